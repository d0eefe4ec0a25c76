// One layer of the engine `grouped` in one launch on tensor cores.
//
//   group  16 outputs that read the same inputs: 16 rows of the dense matrix that a warp multiplies
//   panel  8 consecutive groups (kPanelGroups), which a thread block computes at a time
//   tile   64 images (kGroupImages), for which a warp computes a group at a time
//   term   a half: a value is one half or the sum of two, `high` and `low` (22 bits of mantissa)
//
// Activations lie in global memory as halves [tile][row][term][64]. The outputs of group g are the
// rows 16 g to 16 g + 15. Stored values are kActivationScale times the network's, so that the
// network's values down to 2^-24 are normal halves.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "runtime/challenge/engines/grouped/group_weights.h"

namespace winnow::challenge {

inline constexpr std::uint32_t kGroupImages = 64;  // of a tile

// How activations are stored.
enum class GroupForm {
  bits,   // the input images: [tile][row][2 words], bit i % 32 of word i / 32 is image i of the
          // tile; a set bit stands for kBitValue
  split,  // two terms
  half,   // one term
};

// In which order a layer's tiles and panels are computed.
struct GroupOrder {
  std::uint32_t strip_panels = 1;   // panels of a tile that a block computes one after the other
  bool is_reverse = false;          // the last tile first: `in` may still be cached from its end
  std::uint32_t tile_set_log2 = 0;  // in_form split only: 2^n tiles are computed together, a panel
                                    // of all of them before the next panel
};

// Which images a layer keeps and where they go. The kept images of a tile go to consecutive places
// in the output from the tile's first place on, in order; images of zeros fill up to a multiple of
// `multiple` places. `keep` null: no image moves; the other members are ignored.
// Pointers are to device memory.
struct ImageMoves {
  const std::uint32_t* keep = nullptr;   // [words] bit per image of the input; 0 beyond the count
  const std::uint32_t* first = nullptr;  // [tiles] the tile's first place, a multiple of `multiple`
  std::uint32_t multiple = 2;            // even
  const std::uint32_t* in_id = nullptr;  // [images] ids (image_places.h); null: image i has id i
  std::uint32_t* out_id = nullptr;       // [places] ids of the kept images
};

// What one launch computes. Pointers are to device memory.
struct GroupLaunch {
  GroupView weights;
  GroupForm in_form = GroupForm::half;
  GroupForm out_form = GroupForm::half;  // split or half; half if in_form is half
  std::uint32_t rows = 0;                // of a tile of activations in memory
  std::uint32_t bit_rows = 0;            // of a tile of bits in memory
  const void* in = nullptr;              // activations, or bits
  void* out = nullptr;                   // activations; no overlap with `in`
  const std::uint32_t* count = nullptr;  // [1] places in `in`, empty ones (all zeros) included
  GroupOrder order;
  ImageMoves moves;  // in_form split or half only

  // [words] bit per place in `out`: set for the images with an output above 0. Must be 0 before.
  // Null: not wanted.
  std::uint32_t* alive = nullptr;
};

// Enqueues the layer with the kernel that suits it; fit for a CUDA graph. Equal inputs give equal
// bits. `sms` is the number of SMs of the current GPU.
//
// Unless it reads bits, the launch begins before the work ahead of it in the stream has ended,
// where the GPU can do that, and its kernel waits for that work. Throws Error{device} if the launch
// is refused.
void launch_group_layer(const GroupLaunch& launch, int sms, cudaStream_t stream);

}  // namespace winnow::challenge
