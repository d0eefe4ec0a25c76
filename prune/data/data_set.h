// The data sets that a configuration names: where they lie, how they are split.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/images/image_set.h"
#include "runtime/model/model.h"

namespace winnow {

// `data:` of a configuration.
struct DataConfig {
  std::string format = "cifar10";  // cifar10, cifar100, idx or folder
  std::string path;                // directory; empty: the format's usual places
  std::int64_t validation = 5000;  // samples held out of the training split, chosen by the seed
  std::int64_t limit = 0;          // use only this many training (and test) samples; 0: all
  std::int64_t size = 0;           // folder: images are brought to size x size
};

struct DataSet {
  ImageSet train;
  ImageSet validation;
  ImageSet test;
  Preprocessing preprocessing;  // mean and deviation of each channel over `train`
};

// Throws Error{usage} if nothing lies where it was looked for; the message lists the places and says
// how to get the data (for Fashion-MNIST: apt-get install dataset-fashion-mnist).
// A folder is decoded once and cached as one file beside the run (`cache_directory`).
DataSet load_data_set(const DataConfig& config, std::uint64_t seed,
                      const std::string& cache_directory = "");

}  // namespace winnow
