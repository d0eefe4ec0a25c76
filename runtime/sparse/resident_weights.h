// Consecutive layers as the kernels read them that keep activations in shared memory: one stream of
// connections for every warp, so that what a warp needs next, of this layer or the following,
// always lies next in memory.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

#include "runtime/device/buffer.h"
#include "runtime/sparse/sparse_layer.h"

namespace winnow {

inline constexpr int kResidentThreads = 512;
inline constexpr std::uint32_t kResidentWarps = kResidentThreads / 32;
inline constexpr std::uint32_t kResidentUnroll = 2;

// How the rows of a layer's inputs lie (access_order.h), and what multiplies them: FMAs, a lane an
// output (lane_order.h), or tensor cores, whose slices have 8 outputs (fragment_order.h).
struct ResidentLayerForm {
  std::uint32_t bank_groups = 8;
  bool has_fragments = false;
};

// How the slices of a layer are divided: over the warps of one thread block, or of a cluster of
// them.
struct ResidentSchedule {
  std::uint32_t warps = kResidentWarps;
  std::uint32_t unroll = kResidentUnroll;  // steps that a thread fetches ahead
};

// What kernels read; device memory. Slice s of a layer belongs to warp s % warps; a warp's slices
// of all layers, and their steps, follow each other.
struct ResidentView {
  const uint2* row = nullptr;             // [warp][step][lane]: 4 rows of 16 bits
  const uint4* weight = nullptr;          // [warp][step][lane]: 4 floats, or registers of matrix A
  const float* bias = nullptr;            // [warp][slice][lane] of the output that a lane writes
  const std::uint16_t* steps = nullptr;   // [warp][slice]
  const std::uint32_t* slices = nullptr;  // [layers]: of all warps
  const uint2* begin = nullptr;           // [layers][warp]: its first step and slice of the layer
  std::uint64_t step_stream = 0;          // steps of one warp, of all layers, padded
  std::uint64_t slice_stream = 0;         // slices, padded
  std::uint32_t warps = 0;
};

class ResidentWeights {
 public:
  // `forms` by layer. Orders them on `threads` threads (0: all cores). Throws Error{usage} if a
  // layer has more than 65536 rows, an output over 262,140 connections or a fragment a weight
  // beyond its range, Error{device} if memory runs out.
  ResidentWeights(const LayerSource& source, const std::vector<ResidentLayerForm>& forms,
                  const ResidentSchedule& schedule, int threads);

  ResidentView view() const;
  std::uint32_t rows() const { return rows_; }  // of activations, at most; a multiple of 32

  // [outputs of the last layer]: the row in which each lies at the end.
  const std::vector<std::uint32_t>& result_rows() const { return result_rows_; }
  double passes_per_access() const { return passes_per_access_; }
  double order_ms() const { return order_ms_; }  // that ordering took, reading and upload not

 private:
  DeviceBuffer<uint2> row_;
  DeviceBuffer<uint4> weight_;
  DeviceBuffer<float> bias_;
  DeviceBuffer<std::uint16_t> steps_;
  DeviceBuffer<std::uint32_t> slices_;
  DeviceBuffer<uint2> begin_;
  std::uint64_t step_stream_ = 0;
  std::uint64_t slice_stream_ = 0;
  std::uint32_t warps_;
  std::uint32_t rows_ = 0;
  std::vector<std::uint32_t> result_rows_;
  double passes_per_access_ = 1;
  double order_ms_ = 0;
};

}  // namespace winnow
