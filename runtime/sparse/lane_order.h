// How lanes that compute an output each read their inputs: which lane of a warp has which output,
// and in which order it reads, so that lanes that are served together meet different banks
// (access_order.h). Pure host code.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/sparse/access_order.h"
#include "runtime/sparse/sparse_layer.h"

namespace winnow {

inline constexpr std::uint32_t kLanes = 32;
inline constexpr std::uint32_t kStep = 4;  // connections that are fetched at once

// A layer as the lanes read it. Slice s is what a warp computes at a time: its lane i computes
// output[32 s + i], which it leaves in row 32 s + i.
struct LaneOrder {
  std::vector<std::uint32_t> output;       // [slices * 32]; kNoOutput fills the last slice
  std::vector<std::uint32_t> steps;        // [slices]: each lane reads 4 * steps rows
  std::vector<std::uint32_t> slice_begin;  // [slices + 1]: first entry of a slice in row and value

  // Entry slice_begin[s] + 32 k + i is connection k of lane i: the row it reads and the weight, 0
  // where it only keeps step with longer lanes.
  std::vector<std::uint32_t> row;
  std::vector<float> value;

  std::uint64_t accesses = 0;
  std::uint64_t passes = 0;  // of shared memory that these take

  std::uint32_t slices() const { return static_cast<std::uint32_t>(steps.size()); }
};

// Which lane computes which output, what becomes LaneOrder::output. `position[i]` is the row of
// input i. Requires a well-formed layer and bank_groups in {1, 2, 4, 8}.
std::vector<std::uint32_t> outputs_of_lanes(const SparseLayer& layer,
                                            std::span<const std::uint32_t> position,
                                            std::uint32_t bank_groups);

// The rest, for the `output` of the same layer, positions and `bank_groups`; takes most of the
// time, but layers need not wait for each other. Steps of a slice are a multiple of `unroll`. Sums
// keep their terms but not the order of these, which depends on the arguments alone.
LaneOrder order_lanes(const SparseLayer& layer, std::span<const std::uint32_t> position,
                      std::vector<std::uint32_t> output, std::uint32_t bank_groups,
                      std::uint32_t unroll);

}  // namespace winnow
