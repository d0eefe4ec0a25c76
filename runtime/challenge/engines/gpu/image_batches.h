// Images are run in batches where memory does not hold the activations of all.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/base/error.h"

namespace winnow::challenge {

// The images of one batch: all batches but the last are equal, and none needs more than
// `free_bytes` or, unless that is 0, has more than `most` images. At least 1. Throws Error{device}
// if one image needs more than there is.
inline std::uint32_t images_per_batch(std::uint32_t images, std::size_t bytes_per_image,
                                      std::size_t free_bytes, std::uint32_t most) {
  if (images == 0) return 1;
  std::size_t fitting = bytes_per_image == 0 ? images : free_bytes / bytes_per_image;
  if (fitting == 0) {
    fail(ErrorCode::device, "an image needs ", bytes_per_image, " bytes of GPU memory, ",
         free_bytes, " are free");
  }
  if (most > 0 && fitting > most) fitting = most;
  if (fitting >= images) return images;
  const std::size_t batches = (images + fitting - 1) / fitting;
  return static_cast<std::uint32_t>((images + batches - 1) / batches);
}

// What is left of `usable` bytes for activations where all `images` are held as bits.
inline std::size_t bytes_beside_bits(std::size_t usable, std::uint32_t images,
                                     std::uint32_t neurons) {
  const std::size_t bits = (std::size_t{images} + 31) / 32 * neurons * sizeof(std::uint32_t);
  return usable > bits ? usable - bits : 0;
}

}  // namespace winnow::challenge
