// A layer as the gather kernels read it: unit by unit, in steps of 4 connections, all in one piece
// of memory that can be copied as a whole.
//
//   quad   a unit of four outputs that read exactly the same inputs, which are then read once
//   single a unit of one output
//
// Units stand in any order, quads first: neighbours are computed at the same time, and find in the
// L1 cache what they both read.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

#include "runtime/sparse/sparse_layer.h"

namespace winnow {

inline constexpr std::uint32_t kQuad = 4;  // outputs

// Which output stands at which place, every output once: at the first 4 * quads places quads, each
// with its outputs one after the other. No outputs: output p at place p, no quads.
struct GatherOrder {
  std::vector<std::uint32_t> output;
  std::uint32_t quads = 0;
};

// Device memory. Unit u has the steps [begin[u], begin[u + 1]); connections that fill its last step
// have weight 0.
struct GatherView {
  std::uint32_t inputs = 0;
  std::uint32_t outputs = 0;
  std::uint32_t quads = 0;
  const std::uint32_t* begin = nullptr;   // [units + 1]
  const uint2* narrow = nullptr;          // [steps]: 4 inputs of 16 bits, or null
  const uint4* wide = nullptr;            // [steps]: 4 inputs of 32 bits, where inputs > 65536
  const float4* quad_value = nullptr;     // [steps of quads][4 connections]: of the 4 outputs
  const float4* single_value = nullptr;   // [steps]: of 4 connections; not those of quads
  const float* bias = nullptr;            // [outputs] of the output at a place
  const std::uint32_t* output = nullptr;  // [outputs] which output that is

  __host__ __device__ std::uint32_t units() const { return outputs - (kQuad - 1) * quads; }
};

// Where in the piece what lies, counted in uint4 (16 bytes).
class GatherLayout {
 public:
  explicit GatherLayout(const SparseLayer& layer, const GatherOrder& order = {});

  std::size_t size() const { return output_at_ + (std::size_t{outputs_} + 3) / 4; }
  GatherView view(const uint4* piece) const;

 private:
  std::uint32_t inputs_;
  std::uint32_t outputs_;
  std::uint32_t quads_;
  bool is_narrow_;
  std::size_t quad_steps_ = 0;
  std::size_t input_at_ = 0;  // after the values
  std::size_t begin_at_;
  std::size_t bias_at_;
  std::size_t output_at_;
};

// The piece: [layout.size()], for the order that the layout has.
std::vector<uint4> pack_for_gather(const SparseLayer& layer, const GatherLayout& layout,
                                   const GatherOrder& order = {});

}  // namespace winnow
