// Black and white square images as bits, filled row by row of all images at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/challenge/images.h"

namespace winnow::challenge {

// Column x of a row belongs to plane x mod planes of that row, as point x / planes.
class PixelPlanes {
 public:
  // All bits 0: side * side / 8 bytes an image. Requires that `planes` divides `side`.
  PixelPlanes(std::uint32_t images, std::uint32_t side, std::uint32_t planes);

  std::uint32_t images() const { return images_; }

  // Where the bit of a point is: 32 * the word's number + the bit in it.
  std::uint64_t address(std::uint32_t y, std::uint32_t plane, std::uint32_t image,
                        std::uint32_t point) const;

  // Different words may be set by different threads at once.
  void set(std::uint64_t address) { words_[address / 32] |= std::uint32_t{1} << address % 32; }

  void clear();

  // The images [first, last) with one neuron a pixel, column after column: neuron x * side + y.
  // Pixels at `neurons` and beyond are left out. Uses all cores.
  SparseImages to_images(std::uint32_t first, std::uint32_t last, std::uint32_t neurons) const;

 private:
  template <typename Action>
  void for_each_one(std::uint32_t image, std::uint32_t neurons, Action action) const;

  std::uint32_t images_;
  std::uint32_t side_;
  std::uint32_t planes_;
  std::uint32_t words_per_image_;     // of one plane of one row
  std::vector<std::uint32_t> words_;  // [side, planes, images, words_per_image_]
};

}  // namespace winnow::challenge
