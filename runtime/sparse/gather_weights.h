// A layer as the gather kernels read it: output by output, in steps of 4 connections, all in one
// piece of memory that can be copied as a whole. Outputs stand at places in any order: neighbours
// are computed at the same time, and find in the L1 cache what they both read.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/sparse/sparse_layer.h"

namespace winnow {

// Device memory. The output at place p has the steps [begin[p], begin[p + 1]); connections that
// fill its last step have weight 0.
struct GatherView {
  std::uint32_t inputs = 0;
  std::uint32_t outputs = 0;
  const std::uint32_t* begin = nullptr;   // [outputs + 1]
  const uint2* narrow = nullptr;          // [steps]: 4 inputs of 16 bits, or null
  const uint4* wide = nullptr;            // [steps]: 4 inputs of 32 bits, where inputs > 65536
  const float4* value = nullptr;          // [steps]
  const float* bias = nullptr;            // [outputs] of the output at a place
  const std::uint32_t* output = nullptr;  // [outputs] which output that is
};

// Where in the piece what lies, counted in uint4 (16 bytes).
class GatherLayout {
 public:
  explicit GatherLayout(const SparseLayer& layer);

  std::size_t size() const { return output_at_ + (std::size_t{outputs_} + 3) / 4; }
  GatherView view(const uint4* piece) const;

 private:
  std::uint32_t inputs_;
  std::uint32_t outputs_;
  bool is_narrow_;
  std::size_t input_at_ = 0;  // after the values
  std::size_t begin_at_;
  std::size_t bias_at_;
  std::size_t output_at_;
};

// The piece: [layout.size()]. `order` names the output at each place, every output once; empty:
// output p at place p.
std::vector<uint4> pack_for_gather(const SparseLayer& layer, const GatherLayout& layout,
                                   std::span<const std::uint32_t> order = {});

}  // namespace winnow
