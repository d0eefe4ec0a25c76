// IDX files of images and labels, the format of MNIST.
#pragma once

#include <string>

#include "runtime/images/image_set.h"

namespace winnow {

// Big-endian: 0x00000803, count, height, width, then [count, height, width] bytes, and 0x00000801,
// count, then [count] label bytes. Each file plain or packed with gzip, told by its content.
// Names may have "-idx3-" or ".idx3-". Classes are named by classes.txt, one a line, if it is
// there, else numbered up to the largest label of the split.
ImageSet read_idx(const std::string& directory, Split split);

// One file of images by its path, of the first form above, plain or packed; `labels` and `classes`
// stay empty. Throws Error{bad_file}.
ImageSet read_idx_images(const std::string& path);

}  // namespace winnow
