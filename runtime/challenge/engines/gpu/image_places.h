// Where live images go when dead ones are dropped: to consecutive places, in order.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace winnow::challenge {

// Pointers to device memory. A word is 32 images, a tile one word or two.
struct ImagePlaces {
  std::uint32_t words_per_tile = 1;
  std::uint32_t multiple = 1;  // a tile takes a multiple of so many places; those left over have
                               // dead images without a name
  const std::uint32_t* alive = nullptr;     // [words] bit per image; bits beyond the count are 0
  const std::uint32_t* in_count = nullptr;  // [1] images, dead ones included
  const std::uint32_t* in_id = nullptr;     // their names; null: their numbers
  std::uint32_t* first = nullptr;           // [tiles] the place of the tile's first live image
  std::uint32_t* out_count = nullptr;       // [1] places taken
  std::uint32_t* out_id = nullptr;          // their names, by place; or null
  std::uint32_t* out_number = nullptr;      // their numbers among all images, by place; or null
  std::uint32_t* live_bits = nullptr;       // bit per name of a live image, 0 before; or null
};

// Asynchronous.
void launch_image_places(const ImagePlaces& places, cudaStream_t stream);

}  // namespace winnow::challenge
