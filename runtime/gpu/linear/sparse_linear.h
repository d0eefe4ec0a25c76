// Sparse matrix times dense vectors: linear layers of few images.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <span>

#include "runtime/device/buffer.h"
#include "runtime/gpu/layer/direct_rows.h"
#include "runtime/plan/session.h"

namespace winnow {

// A sparse weight [out, in] in device memory. Values are stored in the precision of the session.
struct SparseLinearWeights {
  std::int64_t rows = 0;  // rows of blocks
  std::int64_t out = 0;
  std::int64_t in = 0;
  int vector = 1;  // 1, 8, 16 or 32
  Precision precision = Precision::f32;
  DeviceBuffer<float> values_f32;          // [blocks, vector]; one of the two is empty
  DeviceBuffer<std::uint16_t> values_f16;  // bits of half floats
  DeviceBuffer<std::uint16_t> column16;    // [blocks] where in <= 65536, else
  DeviceBuffer<std::uint32_t> column32;
  DeviceBuffer<std::int32_t> begin;  // [rows + 1]
  DeviceBuffer<float> bias;          // [rows * vector]
};
SparseLinearWeights upload_sparse_linear(const DirectRows& rows, std::int64_t in,
                                         std::span<const float> bias, Precision precision);

// Enqueues y = x W^T + bias, then max(0, .) if `has_relu`.
//
//   x  [images, in] row-major, of the weights' precision    y  [images, out] the same
//
// One warp makes `vector` outputs of `sub_batch` images (1, 2, 4 or 8). Sums in float in a fixed
// order: equal inputs give equal bits.
// Throws Error{usage} for another sub_batch, Error{device} if the launch is refused.
struct SparseLinearCall {
  const void* x = nullptr;
  void* y = nullptr;
  std::int64_t images = 0;
  int sub_batch = 1;
  bool has_relu = false;
};
void sparse_linear(const SparseLinearWeights& weights, const SparseLinearCall& call,
                   cudaStream_t stream);

}  // namespace winnow
