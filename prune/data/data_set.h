// The data sets that a configuration names: where they lie, how they are split.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/images/image_set.h"
#include "runtime/model/model.h"

namespace winnow {

// `data:` of a configuration.
struct DataConfig {
  std::string format = "cifar10";  // cifar10, cifar100, idx or folder
  std::string path = "";           // directory; empty: the format's usual places
  std::int64_t validation = 5000;  // samples held out of the training split, chosen by the seed
  std::int64_t limit = 0;          // at most this many samples of each part; 0: all
  std::int64_t size = 0;           // folder: images are brought to size x size
};

struct DataSet {
  ImageSet train;
  ImageSet validation;
  ImageSet test;
  Preprocessing preprocessing;     // mean and deviation of each channel over `train`
  std::string directory;           // where it was found
  std::vector<std::string> notes;  // for the user: a cache that was damaged or cannot be written
};

// Reads both splits, holds `validation` samples out of the training split (a choice that depends on
// the seed and their number alone), then thins each part to at most `limit` samples: of n samples
// in file order those at floor(i n / limit), so that files sorted by class keep all classes.
// Parts stay in file order.
//
// Class names of Fashion-MNIST are known: an idx set in a directory called fashion-mnist.
//
// Throws Error{usage} if nothing lies where it was looked for; the message lists the places and
// says how to get the data (for Fashion-MNIST: apt-get install dataset-fashion-mnist). Throws
// Error{usage} too for numbers out of range, Error{bad_file} for damaged files and for splits that
// differ in size of image or in classes.
// A folder is decoded once and cached as one file a split in `cache_directory` (empty: not at all).
DataSet load_data_set(const DataConfig& config, std::uint64_t seed,
                      const std::string& cache_directory = "");

}  // namespace winnow
