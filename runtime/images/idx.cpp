#include "runtime/images/idx.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <iomanip>
#include <span>
#include <sstream>

#include "runtime/base/error.h"
#include "runtime/base/file.h"
#include "runtime/base/gzip.h"
#include "runtime/images/class_names.h"
#include "runtime/images/picture.h"

namespace winnow {
namespace {

// "unsigned byte" is type 8; the last byte of the magic number is the count of dimensions.
constexpr std::uint32_t kUnsignedBytes = 0x800;

struct IdxData {
  std::string path;
  std::vector<std::size_t> dims;
  std::vector<std::uint8_t> values;  // [dims...]
};

std::string find_file(const std::string& directory, const std::string& stem, int rank) {
  const std::string tail = "idx" + std::to_string(rank) + "-ubyte";
  for (const char* separator : {"-", "."}) {
    for (const char* packing : {"", ".gz"}) {
      std::string path = directory + "/" + stem + separator + tail + packing;
      std::error_code ignored;
      if (std::filesystem::exists(path, ignored)) return path;
    }
  }
  fail(ErrorCode::bad_file, directory, ": no file ", stem, "-", tail, ", plain or with .gz");
}

std::size_t big_endian(std::span<const std::uint8_t> four) {
  return std::size_t{four[0]} << 24 | std::size_t{four[1]} << 16 | std::size_t{four[2]} << 8 |
         std::size_t{four[3]};
}

std::string hexadecimal(std::size_t word) {
  std::ostringstream text;
  text << "0x" << std::hex << std::setw(8) << std::setfill('0') << word;
  return text.str();
}

// Up to `limit` bytes of the file, unpacked.
std::vector<std::uint8_t> content_of(const std::string& path, std::span<const std::byte> bytes,
                                     std::size_t limit) {
  if (is_gzip(bytes)) return gunzip(path, bytes, limit);
  const auto* first = reinterpret_cast<const std::uint8_t*>(bytes.data());
  return {first, first + std::min(limit, bytes.size())};
}

std::vector<std::size_t> parse_header(const std::string& path, std::size_t rank,
                                      std::span<const std::uint8_t> header) {
  const std::size_t header_bytes = 4 * (rank + 1);
  if (header.size() < header_bytes) {
    fail(ErrorCode::bad_file, path, ": found ", header.size(), " bytes, expected a header of ",
         header_bytes);
  }
  if (const std::size_t magic = big_endian(header); magic != (kUnsignedBytes | rank)) {
    fail(ErrorCode::bad_file, path, ": byte 0: found ", hexadecimal(magic), ", expected ",
         hexadecimal(kUnsignedBytes | rank));
  }
  std::vector<std::size_t> dims(rank);
  for (std::size_t i = 0; i < rank; ++i) dims[i] = big_endian(header.subspan(4 * (i + 1)));
  return dims;
}

// Cannot overflow: dimensions have 32 bits, and height * width is at most kMaxPicturePixels = 2^26.
std::size_t payload_bytes(const std::string& path, std::span<const std::size_t> dims) {
  if (std::find(dims.begin(), dims.end(), 0u) != dims.end()) {
    fail(ErrorCode::bad_file, path, ": a dimension is 0");
  }
  if (dims.size() == 1) return dims[0];
  if (dims[1] * dims[2] > kMaxPicturePixels) {
    fail(ErrorCode::bad_file, path, ": found images of ", dims[1], " x ", dims[2],
         ", expected at most ", kMaxPicturePixels, " pixels");
  }
  return dims[0] * dims[1] * dims[2];
}

IdxData read_file(const std::string& path, int rank) {
  IdxData data;
  data.path = path;
  const MappedFile file(data.path);
  const std::size_t header_bytes = 4 * (static_cast<std::size_t>(rank) + 1);
  data.dims = parse_header(data.path, static_cast<std::size_t>(rank),
                           content_of(data.path, file.bytes(), header_bytes));
  const std::size_t expected = header_bytes + payload_bytes(data.path, data.dims);
  data.values = content_of(data.path, file.bytes(), expected + 1);
  if (data.values.size() != expected) {
    const bool longer = data.values.size() > expected;
    const std::size_t found = is_gzip(file.bytes()) ? data.values.size() : file.bytes().size();
    fail(ErrorCode::bad_file, data.path, ": found ", longer ? "at least " : "", found,
         " bytes, expected ", expected);
  }
  data.values.erase(data.values.begin(),
                    data.values.begin() + static_cast<std::ptrdiff_t>(header_bytes));
  return data;
}

std::vector<std::string> classes_of(const std::string& directory, const IdxData& labels) {
  const auto largest = std::max_element(labels.values.begin(), labels.values.end());
  const std::size_t needed = std::size_t{*largest} + 1;
  std::vector<std::string> names = read_class_names(directory + "/classes.txt", 0);
  if (names.empty()) return numbered_classes(needed);
  if (names.size() < needed) {
    fail(ErrorCode::bad_file, labels.path, ": item ", largest - labels.values.begin(),
         ": found label ", needed - 1, ", expected less than ", names.size(),
         " (lines of classes.txt)");
  }
  return names;
}

ImageSet without_labels(IdxData images) {
  ImageSet set;
  set.count = static_cast<std::int64_t>(images.dims[0]);
  set.channels = 1;
  set.height = static_cast<std::int64_t>(images.dims[1]);
  set.width = static_cast<std::int64_t>(images.dims[2]);
  set.pixels = std::move(images.values);
  return set;
}

}  // namespace

ImageSet read_idx_images(const std::string& path) {
  return without_labels(read_file(path, 3));
}

ImageSet read_idx(const std::string& directory, Split split) {
  const std::string stem = split == Split::train ? "train" : "t10k";
  IdxData images = read_file(find_file(directory, stem + "-images", 3), 3);
  const IdxData labels = read_file(find_file(directory, stem + "-labels", 1), 1);
  if (images.dims[0] != labels.dims[0]) {
    fail(ErrorCode::bad_file, labels.path, ": found ", labels.dims[0], " labels, expected ",
         images.dims[0], " as in ", images.path);
  }
  ImageSet set = without_labels(std::move(images));
  set.labels.assign(labels.values.begin(), labels.values.end());
  set.classes = classes_of(directory, labels);
  return set;
}

}  // namespace winnow
