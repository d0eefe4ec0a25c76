// The data sets that a configuration names: where they lie, how they are split.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "runtime/images/image_set.h"
#include "runtime/model/model.h"
#include "runtime/text/folds.h"
#include "runtime/text/word_vectors.h"

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

// What `data.format` may be.
inline const std::vector<std::string> kDataFormats = {"cifar10", "cifar100", "idx", "folder",
                                                      "text"};

// `data:` of a configuration.
struct DataConfig {
  std::string format = "cifar10";            // cifar10, cifar100, idx, folder or text
  std::string path = "";                     // directory; empty: the format's usual places
  double validation = kAutomaticValidation;  // samples held out of the training split
  std::int64_t limit = 0;                    // at most this many samples of each part; 0: all
  std::int64_t size = 0;                     // folder: images are brought to size x size
  std::string resize = "";                   // folder: as resize_from(), in place of size
  std::string crop = "";                     // folder: as crop_from(), in place of size
  std::string interpolation = "bilinear";    // folder: as interpolation_from()
  std::int64_t length = 0;                   // text: tokens of a sample; 0: the longest sentence's
  std::int64_t min_count = 1;                // text: rarer words of the training part are unknown
  std::string vectors = "";                  // text: a file of word vectors
  bool vector_words = false;                 // text: all its words are known
  std::int64_t folds = 10;                   // text that is not split: parts of equal size
  std::int64_t fold = 0;                     // text that is not split: the test part
  std::vector<std::string> vocabulary = {};  // text: of a given model, no key; empty: made anew
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
  WordVectors vectors = {};        // text: of words of preprocessing.vocabulary
  std::optional<FoldRecord> fold = {};  // text that is not split: which part is `test`
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
// Text (runtime/text/sentences.h) that is not split is dealt into folds by the seed. Without a
// given one, the vocabulary is made of the training part's words, validation aside.
// Before anything is written, `check` sees the set's sizes, classes and counts, without pixels and
// labels; what it throws ends the call.
DataSet load_data_set(const DataConfig& config, std::uint64_t seed,
                      const std::string& cache_directory = "",
                      const std::function<void(const DataSet& outline)>& check = {});

}  // namespace winnow
