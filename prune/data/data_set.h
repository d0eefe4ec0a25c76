// The data sets that a configuration names: where they lie, how they are split.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "runtime/images/image_set.h"
#include "runtime/model/model.h"

namespace winnow {

// Keys of a checkpoint's metadata: the data set that the network was trained with.
inline constexpr char kDataFormatKey[] = "data_format";
inline constexpr char kDataPathKey[] = "data_path";

// Stands for min(5000, a tenth of the training split).
inline constexpr double kAutomaticValidation = -1;

// How many of `count` training samples `validation` asks for: a whole number is a count, a number
// between 0 and 1 a fraction (rounded down, but at least one sample).
// Throws Error{usage} for other numbers and if nothing would be left to train with.
std::int64_t validation_count(double validation, std::int64_t count);

// `data:` of a configuration.
struct DataConfig {
  std::string format = "cifar10";            // cifar10, cifar100, idx or folder
  std::string path = "";                     // directory; empty: the format's usual places
  double validation = kAutomaticValidation;  // samples held out of the training split
  std::int64_t limit = 0;                    // at most this many samples of each part; 0: all
  std::int64_t size = 0;                     // folder: images are brought to size x size
  std::string resize = "";                   // folder: as resize_from(), in place of size
  std::string crop = "";                     // folder: as crop_from(), in place of size
  std::string interpolation = "bilinear";    // folder: as interpolation_from()
};

// What `config` says of a folder's pictures. Throws Error{usage}.
PictureForm picture_form(const DataConfig& config);

struct DataSet {
  ImageSet train;
  ImageSet validation;
  ImageSet test;
  Preprocessing preprocessing;     // mean and deviation of each channel over `train`, and what a
                                   // folder's pictures are brought to
  std::string directory;           // where it was found
  std::vector<std::string> notes;  // for the user: a cache that was damaged or cannot be written
};

// Reads both splits, holds validation_count() samples out of the training split (a choice that
// depends on the seed and their number alone), then thins each part to at most `limit` samples
// (thin_out). Parts stay in file order.
//
// Class names of Fashion-MNIST are known: an idx set in a directory called fashion-mnist.
//
// Throws Error{usage} if nothing lies where it was looked for; the message lists the places and
// says how to get the data (for Fashion-MNIST: apt-get install dataset-fashion-mnist). Throws
// Error{usage} too for numbers out of range and for a directory or names of classes that are not
// UTF-8, Error{bad_file} for damaged files and for splits that differ in size of image or in
// classes.
// A folder is decoded once and cached as one file a split in `cache_directory` (empty: not at all),
// unless it is too large for memory (picture_memory()), which a note says.
// Before that is written, `check` sees the set's sizes, classes and counts, without pixels and
// labels; what it throws ends the call.
DataSet load_data_set(const DataConfig& config, std::uint64_t seed,
                      const std::string& cache_directory = "",
                      const std::function<void(const DataSet& outline)>& check = {});

}  // namespace winnow
