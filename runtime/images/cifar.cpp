#include "runtime/images/cifar.h"

#include <cstddef>
#include <span>

#include "runtime/base/error.h"
#include "runtime/base/file.h"
#include "runtime/images/class_names.h"

namespace winnow {
namespace {

constexpr std::size_t kSide = 32;
constexpr std::size_t kPixels = 3 * kSide * kSide;
constexpr std::size_t kCifar10Classes = 10;
constexpr std::size_t kCifar100Classes = 100;
constexpr std::size_t kCoarseClasses = 20;

// The label bytes of a record: how many values each may take. The last one is the class.
using LabelBytes = std::span<const std::size_t>;

void append_record(ImageSet& set, std::span<const std::byte> record, LabelBytes label_bytes,
                   const std::string& place) {
  std::size_t label = 0;
  for (std::size_t i = 0; i < label_bytes.size(); ++i) {
    label = std::to_integer<std::size_t>(record[i]);
    if (label >= label_bytes[i]) {
      fail(ErrorCode::bad_file, place, ": found label ", label, ", expected less than ",
           label_bytes[i]);
    }
  }
  set.labels.push_back(static_cast<std::int32_t>(label));
  const auto* pixels = reinterpret_cast<const std::uint8_t*>(record.data() + label_bytes.size());
  set.pixels.insert(set.pixels.end(), pixels, pixels + kPixels);
}

// Appends all records; returns how many.
std::size_t append_file(ImageSet& set, const std::string& path, LabelBytes label_bytes) {
  const MappedFile file(path);
  const std::span<const std::byte> bytes = file.bytes();
  const std::size_t record_bytes = label_bytes.size() + kPixels;
  if (bytes.empty() || bytes.size() % record_bytes != 0) {
    fail(ErrorCode::bad_file, path, ": found ", bytes.size(), " bytes, expected a multiple of ",
         record_bytes);
  }
  const std::size_t records = bytes.size() / record_bytes;
  for (std::size_t i = 0; i < records; ++i) {
    append_record(set, bytes.subspan(i * record_bytes, record_bytes), label_bytes,
                  path + ": record " + std::to_string(i));
  }
  return records;
}

ImageSet empty_set(const std::string& names_path, std::size_t classes) {
  ImageSet set;
  set.channels = 3;
  set.height = set.width = static_cast<std::int64_t>(kSide);
  set.classes = read_class_names(names_path, classes);
  if (set.classes.empty()) set.classes = numbered_classes(classes);
  return set;
}

}  // namespace

ImageSet read_cifar10(const std::string& directory, Split split) {
  constexpr int kTrainingFiles = 5;
  const std::size_t label_bytes[] = {kCifar10Classes};
  ImageSet set = empty_set(directory + "/batches.meta.txt", kCifar10Classes);
  if (split == Split::test) {
    append_file(set, directory + "/test_batch.bin", label_bytes);
  } else {
    std::size_t first = 0;
    for (int i = 1; i <= kTrainingFiles; ++i) {
      const std::string path = directory + "/data_batch_" + std::to_string(i) + ".bin";
      const std::size_t records = append_file(set, path, label_bytes);
      if (i == 1) first = records;
      if (records != first) {
        fail(ErrorCode::bad_file, path, ": found ", records, " records, expected ", first,
             " as in data_batch_1.bin");
      }
    }
  }
  set.count = static_cast<std::int64_t>(set.labels.size());
  return set;
}

ImageSet read_cifar100(const std::string& directory, Split split) {
  const std::size_t label_bytes[] = {kCoarseClasses, kCifar100Classes};
  ImageSet set = empty_set(directory + "/fine_label_names.txt", kCifar100Classes);
  append_file(set, directory + (split == Split::train ? "/train.bin" : "/test.bin"), label_bytes);
  set.count = static_cast<std::int64_t>(set.labels.size());
  return set;
}

}  // namespace winnow
