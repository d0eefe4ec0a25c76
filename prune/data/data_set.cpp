#include "prune/data/data_set.h"

#include <algorithm>
#include <filesystem>

#include "prune/data/data_places.h"
#include "prune/data/folder_cache.h"
#include "prune/data/partition.h"
#include "runtime/base/error.h"
#include "runtime/images/class_names.h"

namespace winnow {
namespace {

void check(const DataConfig& config) {
  const auto at_least_0 = [](const char* name, std::int64_t value) {
    if (value < 0) fail(ErrorCode::usage, name, ": found ", value, ", expected at least 0");
  };
  at_least_0("data.validation", config.validation);
  at_least_0("data.limit", config.limit);
  at_least_0("data.size", config.size);
}

// IDX numbers its classes up to the largest label of a split: the larger number is right for both.
void join_classes(ImageSet& train, ImageSet& test) {
  const std::size_t count = std::max(train.classes.size(), test.classes.size());
  for (ImageSet* set : {&train, &test}) {
    if (set->classes == numbered_classes(set->classes.size())) {
      set->classes = numbered_classes(count);
    }
  }
}

void check_alike(const DataSet& data) {
  const ImageSet &train = data.train, &test = data.test;
  if (train.channels != test.channels || train.height != test.height || train.width != test.width) {
    fail(ErrorCode::bad_file, data.directory, ": test images of ", test.channels, " x ",
         test.height, " x ", test.width, ", training images of ", train.channels, " x ",
         train.height, " x ", train.width);
  }
  if (train.classes == test.classes) return;
  const auto [of_train, of_test] = std::mismatch(train.classes.begin(), train.classes.end(),
                                                 test.classes.begin(), test.classes.end());
  fail(ErrorCode::bad_file, data.directory, ": the splits differ in their classes, first in ",
       of_train == train.classes.end() ? *of_test : *of_train);
}

// Names from github.com/zalandoresearch/fashion-mnist, where no file has them.
void name_fashion_classes(DataSet& data) {
  const std::filesystem::path path = std::filesystem::path(data.directory) / "";
  if (path.parent_path().filename() != "fashion-mnist") return;
  if (data.train.classes != numbered_classes(10)) return;
  data.train.classes = {"T-shirt/top", "Trouser", "Pullover", "Dress", "Coat",
                        "Sandal",      "Shirt",   "Sneaker",  "Bag",   "Ankle boot"};
  data.test.classes = data.train.classes;
}

ImageSet read_split(ImageFormat format, const DataConfig& config, Split split,
                    const std::string& cache_directory, DataSet& data) {
  const FolderOptions options = {.size = config.size};
  if (format != ImageFormat::folder || cache_directory.empty()) {
    return read_image_set(format, data.directory, split, options);
  }
  return read_folder_cached(list_folder(data.directory, split), options, cache_directory,
                            data.notes);
}

}  // namespace

DataSet load_data_set(const DataConfig& config, std::uint64_t seed,
                      const std::string& cache_directory) {
  check(config);
  const ImageFormat format = image_format_from(config.format);
  DataSet data;
  data.directory = find_data(format, config.path);
  data.train = read_split(format, config, Split::train, cache_directory, data);
  data.test = read_split(format, config, Split::test, cache_directory, data);
  join_classes(data.train, data.test);
  check_alike(data);
  if (format == ImageFormat::idx) name_fashion_classes(data);
  if (config.validation >= data.train.count) {
    fail(ErrorCode::usage, "data.validation: found ", config.validation, ", expected less than ",
         data.train.count, " training samples");
  }
  data.validation = hold_out(data.train, config.validation, seed);
  if (config.limit > 0) {
    for (ImageSet* set : {&data.train, &data.validation, &data.test}) thin_out(*set, config.limit);
  }
  data.preprocessing = measure_channels(data.train);
  return data;
}

}  // namespace winnow
