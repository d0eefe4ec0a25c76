// Random changes of training images that keep their class.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/base/random.h"

namespace winnow {

// `augment:` of a configuration. What lies outside an image, or in a hole, is 0 once normalised:
// the mean of its channel.
struct AugmentConfig {
  int crop_padding = 0;  // p: an image is shifted by up to p pixels along each axis
  bool flip = false;     // half of the images are mirrored, left to right
  int cutout = 0;        // side of a square hole with its centre anywhere (DeVries, Taylor 2017)
};

// Drawn changes of `count` images, to be applied in this order:
//   shift  pixel (y, x) becomes pixel (y + row_shift, x + column_shift)
//   flip   pixel (y, x) becomes pixel (y, width - 1 - x)
//   hole   rows hole_row .. hole_row + cutout - 1 and columns alike become 0; may leave the image
struct Augmentations {
  std::vector<std::int64_t> row_shift;     // [count] in [-p, p]
  std::vector<std::int64_t> column_shift;  // [count] in [-p, p]
  std::vector<std::uint8_t> is_flipped;    // [count]
  std::vector<std::int64_t> hole_row;      // [count]
  std::vector<std::int64_t> hole_column;   // [count]
};

// Draws the same numbers whatever is switched on, so that switching one change on leaves the others
// as they were. Equal generators give equal draws on every machine.
Augmentations draw_augmentations(const AugmentConfig& config, std::int64_t height,
                                 std::int64_t width, std::int64_t count, Random& random);

// Throws Error{usage} unless 0 <= crop_padding < min(height, width) and 0 <= cutout.
void check_augment_config(const AugmentConfig& config, std::int64_t height, std::int64_t width);

}  // namespace winnow
