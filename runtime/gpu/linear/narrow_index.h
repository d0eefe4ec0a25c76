// What a narrow linear layer (narrow_linear.h) reads where. Pure functions of host and device.
//
//   group    8 images, for which a thread block computes all outputs
//   chunk    32 inputs, which a warp multiplies in two steps of 16
//   tile     16 outputs of one product
//
// The order of inputs within a sum is free. A chunk has them as they lie: 32 neighbours of a
// row-major image, or the 32 channels of a block of nchw32c8n at one position.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/base/divided_up.h"
#include "runtime/device/host_device.h"
#include "runtime/plan/layout.h"

namespace winnow {

inline constexpr std::uint32_t kNarrowImages = 8;
inline constexpr std::uint32_t kNarrowChunk = 32;
inline constexpr std::uint32_t kNarrowStep = 16;
inline constexpr std::uint32_t kNarrowTile = 16;
inline constexpr std::uint32_t kNarrowSums = kNarrowTile * kNarrowImages;  // of a product
inline constexpr std::uint32_t kMostNarrowOutputs = 64;
inline constexpr std::uint32_t kMostNarrowWarps = 16;

// How the inputs of a layer lie: row-major, or as a map in nchw32c8n.
struct NarrowInputs {
  std::int64_t channels = 0;   // of a map; row-major all inputs
  std::int64_t positions = 1;  // of a map
  bool is_map = false;

  std::int64_t count() const { return channels * positions; }
  std::int64_t chunks() const { return divided_up(channels, kNarrowChunk) * positions; }
};
static_assert(kNarrowChunk == kBlockedChannels);

// What of NarrowInputs a kernel needs.
struct NarrowChunks {
  std::uint32_t all = 0;
  std::uint32_t whole = 0;  // the first ones have 32 inputs,
  std::uint32_t last = 0;   // the others so many

  explicit NarrowChunks(const NarrowInputs& inputs)
      : all(static_cast<std::uint32_t>(inputs.chunks())),
        whole(static_cast<std::uint32_t>(inputs.channels / kNarrowChunk * inputs.positions)),
        last(static_cast<std::uint32_t>(inputs.channels % kNarrowChunk)) {}

  WINNOW_HOST_DEVICE std::uint32_t inputs_of(std::uint32_t chunk) const {
    return chunk < whole ? kNarrowChunk : last;
  }
};

// A lane has four words of a chunk, two half floats each: words 2 s and 2 s + 1 are what it holds
// of the inputs of step s (matrix B of mma.m16n8k16), of image lane / 4.

// Row-major: the lane's words are eight neighbouring inputs. Which is the first of them?
WINNOW_HOST_DEVICE inline std::uint32_t first_neighbour(std::uint32_t lane) {
  return lane % 4 * 8;
}

// Map: as read, word w of a lane has two images of this input; 8 x 8 matrices of them are turned
// around. The lanes of a word read 128 bytes in a row.
WINNOW_HOST_DEVICE inline std::uint32_t input_of_word(std::uint32_t lane, std::uint32_t word) {
  return word * 8 + lane / 4;
}

// Elements of a map from its first to what the lane reads of word 0; those of other words follow
// kNarrowWord elements apart.
inline constexpr std::uint32_t kNarrowWord = 64;
WINNOW_HOST_DEVICE inline std::size_t map_offset(const NarrowChunks& chunks, std::uint32_t group,
                                                 std::uint32_t chunk, std::uint32_t lane) {
  return (std::size_t{group} * chunks.all + chunk) * kNarrowChunk * kNarrowImages + lane * 2;
}

// The input, of a chunk's 32, that is row k (of 16) of matrix B in this step.
constexpr std::uint32_t input_of_row(bool is_map, std::uint32_t step, std::uint32_t k) {
  if (is_map) return step * kNarrowStep + k;
  return k % 8 / 2 * 8 + step * 4 + k / 8 * 2 + k % 2;
}

}  // namespace winnow
