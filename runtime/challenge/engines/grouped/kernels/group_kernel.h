// One layer in one launch on tensor cores: a warp computes the 16 outputs of a group for a tile of
// 64 images. Activations lie in global memory as [tile][row][parts][64] halfs: one part, or two
// whose sum stands for the value (22 bits of mantissa). Values are kActivationScale times as large,
// so that halfs are normal down to 2^-24.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "runtime/challenge/engines/grouped/group_weights.h"

namespace winnow::challenge {

inline constexpr std::uint32_t kGroupImages = 64;  // of a tile

enum class GroupForm {
  bits,  // [tile][row][2 words], bit image % 32 of word image / 32: the first layer's inputs; a one
         // counts as kBitValue
  split,  // two halfs
  half,
};

// Pointers to device memory.
struct GroupLaunch {
  GroupView weights;
  GroupForm in_form = GroupForm::half;
  GroupForm out_form = GroupForm::half;  // split or half; half if in_form is
  std::uint32_t rows = 0;                // of a tile of activations in memory, not of bits
  std::uint32_t bit_rows = 0;            // of a tile of bits
  const void* in = nullptr;
  void* out = nullptr;
  const std::uint32_t* count = nullptr;  // [1] images in `in`
  std::uint32_t run = 1;                 // so many times 8 groups are one block's at a time
  bool is_reverse = false;               // last tile first
  std::uint32_t tile_set_log2 = 0;  // split in, half or split out: so many tiles, a power of 2,
                                    // are computed part by part together

  // Images to drop on the way: those of a tile that are kept go to consecutive places in `out`, in
  // order, and images of zeros after them up to a multiple. Null: all stay. Not for bits.
  const std::uint32_t* keep = nullptr;   // [words] bit per image of `in`, 0 beyond the count
  const std::uint32_t* first = nullptr;  // [tiles] place of the first, a multiple of `multiple`
  std::uint32_t multiple = 2;            // even
  const std::uint32_t* in_id = nullptr;  // names of the images of `in`; null: their numbers
  std::uint32_t* out_id = nullptr;       // of those kept, by place

  // [words] bit per place in `out`: images that are not 0 everywhere. 0 before; or null.
  std::uint32_t* alive = nullptr;
};

// Asynchronous; fit for a CUDA graph. Equal inputs give equal bits. Unless it reads bits, it
// begins before the work that is on the stream has ended and then waits for it, where the GPU can.
void launch_group_layer(const GroupLaunch& launch, int processors, cudaStream_t stream);

}  // namespace winnow::challenge
