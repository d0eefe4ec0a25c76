// Labelled images: bytes, not yet normalised. image_reader.h reads them batch by batch. Sentences
// (runtime/text) take the same way, with tokens for pixels.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/picture_form.h"

namespace winnow {

// What a folder's pictures are brought to. Where `form` says neither resize nor crop: the shorter
// side is scaled to `size`, then the centre is cut out (cover() of resize.h). 0 keeps sizes. All
// pictures must come to one size.
struct FolderOptions {
  std::int64_t size = 0;
  std::int64_t channels = 3;  // 1 or 3
  PictureForm form = {};
  std::uint64_t most_bytes = 0;  // of decoded pictures in memory; 0: picture_memory()
};

// 4 GiB, but at most a quarter of this machine's memory: a split whose decoded pictures take more
// stays in its files, and pictures are decoded whenever they are read.
std::uint64_t picture_memory();

inline constexpr std::int64_t kTokenBytes = 4;  // i32, in the machine's order

struct ImageSet {
  std::int64_t count = 0;
  std::int64_t channels = 0;  // 1 grey, 3 red-green-blue
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::vector<std::uint8_t> pixels;  // [count, channels, height, width]; empty if `files` is not
  std::vector<std::int32_t> labels;  // [count] in [0, classes.size()); empty if the files have none
  std::vector<std::string> classes;  // names, or "0", "1", ... where the files have none

  std::vector<std::string> files = {};  // [count] pictures too many for memory, or empty
  FolderOptions folder = {};            // what those are brought to

  // Not 0: samples are sentences of `height` tokens below it; channels is 1, width kTokenBytes.
  std::int64_t token_count = 0;

  bool is_in_memory() const { return files.empty(); }
  bool holds_tokens() const { return token_count > 0; }

  // Of a sample as a network takes it: {channels, height, width}, or {height} tokens.
  std::vector<std::int64_t> sample_shape() const {
    if (holds_tokens()) return {height};
    return {channels, height, width};
  }
};

// Formats of data sets.
//   cifar10   data_batch_1.bin .. data_batch_5.bin, test_batch.bin (batches.meta.txt for names)
//   cifar100  train.bin, test.bin, fine labels (fine_label_names.txt for names)
//   idx       train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-..., each plain or .gz
//             (classes.txt for names, one a line)
//   folder    SPLIT/CLASS/**/*.jpg|jpeg|png, classes in alphabetical order; pictures of other kinds
//             (bmp, gif, pgm, ppm, tif, tiff, webp) are refused, other files are passed over
//   text      sentences: runtime/text/sentences.h reads them
enum class ImageFormat { cifar10, cifar100, idx, folder, text };

// Throws Error{usage} with a did-you-mean.
ImageFormat image_format_from(std::string_view name);

// A data set as the command line names it, "cifar10:data/cifar10".
struct DataPlace {
  ImageFormat format = ImageFormat::idx;
  std::string directory;
};

// Throws Error{usage} unless `text` is FORMAT:PLACE with a format that is known.
DataPlace data_place_from(const std::string& text);

enum class Split { train, test };

// Reads a whole split, in file order; a folder's pictures class by class, by path within a class.
// A folder's test split may be called test, val or validation.
// Throws Error{bad_file} naming file and place: a missing file, a size that does not fit the
// format, a label out of range, a damaged image (of a folder that stays in its files: when it is
// read). Throws Error{usage} for options out of range, for a file whose decoder this build lacks
// and for text, where images are wanted.
ImageSet read_image_set(ImageFormat format, const std::string& directory, Split split,
                        const FolderOptions& options = {});

// One picture file (PNG or JPEG by its first bytes), brought to channels x height x width as `form`
// says; if that says neither resize nor crop, it is scaled, its aspect kept, to cover that size and
// the centre is cut out: for a square the same as FolderOptions. Grey and colour are converted into
// each other.
//
//   returns  [channels, height, width]
//
// Throws Error{bad_file} for a damaged file or one that `form` brings to another size, Error{usage}
// for a size out of range or a decoder that this build lacks.
std::vector<std::uint8_t> read_picture(const std::string& path, std::int64_t channels,
                                       std::int64_t height, std::int64_t width,
                                       const PictureForm& form = {});

// Which picture formats this build reads: "png, jpeg" or what is missing.
std::string picture_support();

}  // namespace winnow
