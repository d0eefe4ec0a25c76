// A layer in the order in which warps read it, whatever multiplies: FMAs (lane_order.h) or tensor
// cores (fragment_order.h). Pure host code.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "runtime/sparse/access_order.h"

namespace winnow {

inline constexpr std::uint32_t kLanes = 32;

// Slice s is what a warp computes at a time: the outputs output[slice_outputs * s ...], which it
// leaves in the rows with these numbers. A step is 128 connections of a slice.
struct SliceOrder {
  std::uint32_t slice_outputs = kLanes;  // 32 or 8
  std::vector<std::uint32_t> output;     // [slices][slice_outputs]; kNoOutput fills the last slice
  std::vector<std::uint32_t> steps;      // [slices]
  std::vector<uint2> row;                // [slice][step][lane]: 4 rows of 16 bits
  std::vector<uint4> weight;             // [slice][step][lane]

  std::uint64_t accesses = 0;
  std::uint64_t passes = 0;  // of shared memory that these take

  std::uint32_t slices() const { return static_cast<std::uint32_t>(steps.size()); }
  // Of which a lane holds the bias: neighbouring lanes share one where there are fewer than lanes.
  std::uint32_t output_of_lane(std::uint32_t slice, std::uint32_t lane) const {
    return output[slice * slice_outputs + lane / (kLanes / slice_outputs)];
  }
};

// Appends the steps of a slice of these outputs, each of which reads `length` rows.
using AppendSlice = std::function<void(std::span<const std::uint32_t> outputs, std::uint32_t length,
                                       SliceOrder& order)>;

// The order of the slices that `output` makes. An output reads `step_reads` rows in a step; steps
// of a slice are a multiple of `unroll` above 0. Outputs of `accesses` are what `append` orders.
SliceOrder order_slices(const AccessOrder& accesses, std::vector<std::uint32_t> output,
                        std::uint32_t slice_outputs, std::uint32_t step_reads, std::uint32_t unroll,
                        const AppendSlice& append);

// Fills the last slice.
void fill_slice(std::vector<std::uint32_t>& output, std::uint32_t slice_outputs);

}  // namespace winnow
