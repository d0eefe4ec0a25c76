// Which images of a word of bits are alive.
#pragma once

#include <cstdint>

namespace winnow::challenge {

// A bit per image of `alive[word]`; those of images from `count` on are 0, whatever memory holds.
// Requires 32 * word < count.
__device__ __forceinline__ std::uint32_t live_images(const std::uint32_t* alive, std::uint32_t word,
                                                     std::uint32_t count) {
  const std::uint32_t there = count - word * 32;
  return alive[word] & (there < 32 ? (1u << there) - 1 : 0xffffffffu);
}

}  // namespace winnow::challenge
