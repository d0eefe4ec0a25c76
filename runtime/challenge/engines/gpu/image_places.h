// Compaction: where the live images of a batch go when the dead ones are dropped.
//
// An image's place is where it lies among the activations: place p is column p % n of tile p / n
// for tiles of n images. Its id is its number in the batch before any image was dropped, which
// never changes. Live images keep their order and go to consecutive places.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace winnow::challenge {

// What one launch reads and writes. All pointers are to device memory. A word is 32 places, a bit
// each; a tile is one word or two.
struct ImagePlaces {
  std::uint32_t words_per_tile = 1;
  // Each tile's images get a multiple of so many places. A place beyond its last live image is
  // empty: out_id and out_number are not written there.
  std::uint32_t multiple = 1;
  const std::uint32_t* alive = nullptr;     // [words] bit per old place; bits from *in_count on are
                                            // ignored
  const std::uint32_t* in_count = nullptr;  // [1] old places, of dead images and empty ones too
  const std::uint32_t* in_id = nullptr;     // [old places] ids; null: the image at place p has id p
  std::uint32_t* first = nullptr;           // [tiles] the new place of the tile's first live image
  std::uint32_t* out_count = nullptr;       // [1] places taken, empty ones included
  std::uint32_t* out_id = nullptr;          // [new places] ids; null: not wanted
  std::uint32_t* out_number = nullptr;      // [new places] the old place; null: not wanted
  std::uint32_t* live_bits = nullptr;  // bit per id of a live image, 0 before; null: not wanted
};

// Enqueues one kernel of one block. Throws Error{device} if the launch is refused.
void launch_image_places(const ImagePlaces& places, cudaStream_t stream);

}  // namespace winnow::challenge
