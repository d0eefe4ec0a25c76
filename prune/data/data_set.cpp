#include "prune/data/data_set.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "prune/data/data_places.h"
#include "prune/data/folder_cache.h"
#include "prune/data/partition.h"
#include "prune/data/text_data.h"
#include "runtime/base/error.h"
#include "runtime/base/number_text.h"
#include "runtime/base/suggest.h"
#include "runtime/base/utf8.h"
#include "runtime/images/class_names.h"
#include "runtime/images/selection.h"

namespace winnow {
namespace {

void check_numbers(const DataConfig& config) {
  const auto at_least_0 = [](const char* name, std::int64_t value) {
    if (value < 0) fail(ErrorCode::usage, name, ": found ", value, ", expected at least 0");
  };
  at_least_0("data.limit", config.limit);
  at_least_0("data.size", config.size);
  const bool has_form = config.size > 0 || !config.resize.empty() || !config.crop.empty();
  if (has_form && config.format != "folder") {
    fail(ErrorCode::usage, "data.format: found ", config.format,
         ", but data.size, data.resize and data.crop are for pictures, expected folder");
  }
  if (config.size > 0 && picture_form(config).is_given()) {
    fail(ErrorCode::usage, "data.size: found ", config.size,
         " beside data.resize or data.crop, expected one of them");
  }
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
  const bool is_of_train =
      of_test == test.classes.end() || (of_train != train.classes.end() && *of_train < *of_test);
  fail(ErrorCode::bad_file, data.directory, ": the splits differ in their classes: only ",
       is_of_train ? "training" : "test", " images are of ",
       in_quotes(is_of_train ? *of_train : *of_test));
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

// What ends up in the JSON of checkpoints, and so must be text.
void check_texts(const DataSet& data) {
  const auto check_text = [](const char* what, const std::string& text) {
    if (is_utf8(text)) return;
    fail(ErrorCode::usage, what, " ", in_quotes(text), " is not UTF-8");
  };
  check_text("data: the directory", data.directory);
  for (const std::string& name : data.train.classes) check_text("data: the class name", name);
}

// `caches` gets the cache of a folder.
ImageSet read_split(ImageFormat format, const DataConfig& config, Split split,
                    const std::string& cache_directory, DataSet& data,
                    std::vector<FolderCache>& caches) {
  FolderOptions options = {.size = config.size};
  options.form = picture_form(config);
  if (format != ImageFormat::folder || cache_directory.empty()) {
    return read_image_set(format, data.directory, split, options);
  }
  caches.emplace_back(list_folder(data.directory, split), options, cache_directory);
  return caches.back().read(data.notes);
}

ImageSet outline_of(const ImageSet& set, std::int64_t count, std::int64_t limit) {
  return {.count = limit > 0 ? std::min(count, limit) : count,
          .channels = set.channels,
          .height = set.height,
          .width = set.width,
          .pixels = {},
          .labels = {},
          .classes = set.classes};
}

// What `data`, read but not split, comes to with `held` samples held out and parts thinned.
DataSet outline_of(const DataSet& data, std::int64_t held, std::int64_t limit) {
  DataSet outline;
  outline.train = outline_of(data.train, data.train.count - held, limit);
  outline.validation = outline_of(data.train, held, limit);
  outline.test = outline_of(data.test, data.test.count, limit);
  outline.directory = data.directory;
  return outline;
}

void note_where_pictures_are(const char* name, const ImageSet& set, DataSet& data) {
  if (set.is_in_memory()) return;
  const double bytes =
      static_cast<double>(set.count) * static_cast<double>(set.channels * set.height * set.width);
  data.notes.push_back(std::string(name) + ": " + std::to_string(set.count) + " pictures of " +
                       fixed(bytes / (1 << 30), 1) + " GiB, more than the " +
                       fixed(static_cast<double>(picture_memory()) / (1 << 30), 1) +
                       " GiB kept in memory: they are decoded whenever they are read");
}

}  // namespace

PictureForm picture_form(const DataConfig& config) {
  const PictureForm form = {resize_from(config.resize, "data.resize"),
                            crop_from(config.crop, "data.crop"),
                            interpolation_from(config.interpolation)};
  check_picture_form(form, "data");
  return form;
}

std::int64_t validation_count(double validation, std::int64_t count) {
  const auto all = static_cast<double>(count);
  const bool is_automatic = validation == kAutomaticValidation;
  const bool is_fraction = validation > 0 && validation < 1;
  if (!is_automatic && !is_fraction && !(validation >= 0 && validation == std::floor(validation))) {
    fail(ErrorCode::usage, "data.validation: found ", validation,
         ", expected a count or a fraction between 0 and 1");
  }
  double held = validation;
  if (is_fraction) held = std::max(1.0, std::floor(validation * all));
  if (is_automatic) held = std::clamp(std::floor(all / 10), 1.0, 5000.0);
  if (held < all) return static_cast<std::int64_t>(held);
  fail(ErrorCode::usage, "data.validation: found ", held, ", expected less than ", count,
       " training samples");
}

DataSet load_data_set(const DataConfig& config, std::uint64_t seed,
                      const std::string& cache_directory,
                      const std::function<void(const DataSet&)>& check) {
  check_numbers(config);
  const ImageFormat format = image_format_from(config.format);
  if (format == ImageFormat::text) {
    DataSet data = load_text_data(config, seed, check);
    check_texts(data);
    return data;
  }
  DataSet data;
  data.directory = find_data(format, config.path);
  std::vector<FolderCache> caches;
  data.train = read_split(format, config, Split::train, cache_directory, data, caches);
  data.test = read_split(format, config, Split::test, cache_directory, data, caches);
  note_where_pictures_are("data: train", data.train, data);
  note_where_pictures_are("data: test", data.test, data);
  join_classes(data.train, data.test);
  check_alike(data);
  if (format == ImageFormat::idx) name_fashion_classes(data);
  check_texts(data);
  const std::int64_t held = validation_count(config.validation, data.train.count);
  if (check) check(outline_of(data, held, config.limit));
  if (!caches.empty()) {
    caches[0].keep(data.train, data.notes);
    caches[1].keep(data.test, data.notes);
  }
  data.validation = hold_out(data.train, held, seed);
  if (config.limit > 0) {
    for (ImageSet* set : {&data.train, &data.validation, &data.test}) thin_out(*set, config.limit);
  }
  data.preprocessing = measure_channels(data.train);
  if (format == ImageFormat::folder) data.preprocessing.pictures = picture_form(config);
  return data;
}

}  // namespace winnow
