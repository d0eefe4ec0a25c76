// Lane l of a warp holds channel l % vector of every (32 / vector)th block: weights are read as one
// coalesced run and each read serves all images of the sub-batch. Lanes of equal channel are added
// up by shuffles.
#include "runtime/gpu/linear/sparse_linear.h"

#include <vector>

#include "runtime/device/overlapping_launch.h"
#include "runtime/gpu/layer/indexing.cuh"

namespace winnow {
namespace {

constexpr int kWarp = 32;
constexpr int kWarpsPerBlock = 4;

// ---------------------------------------------------------------------------------- device

template <typename T, typename Column>
struct LinearArguments {
  const T* values;
  const Column* column;
  const std::int32_t* begin;
  const float* bias;
  const T* x;
  T* y;
  std::int64_t rows, out, in, images;
  int vector;
  bool has_relu;
};

template <typename T, typename Column, int kSubBatch>
__global__ void __launch_bounds__(kWarp* kWarpsPerBlock)
    sparse_linear_kernel(const LinearArguments<T, Column> a) {
  begin_next_launch();
  const std::int64_t row = std::int64_t{blockIdx.x} * kWarpsPerBlock + threadIdx.x / kWarp;
  if (row >= a.rows) return;
  const int lane = threadIdx.x % kWarp;
  const int channel = lane % a.vector;
  const int step = kWarp / a.vector;
  const std::int32_t end = __ldg(a.begin + row + 1);
  const std::int64_t k = row * a.vector + channel;
  wait_for_launch_before();

  for (std::int64_t n0 = std::int64_t{blockIdx.y} * kSubBatch; n0 < a.images;
       n0 += std::int64_t{gridDim.y} * kSubBatch) {
    float sums[kSubBatch] = {};
    for (std::int32_t u = __ldg(a.begin + row) + lane / a.vector; u < end; u += step) {
      const float w = widen(__ldg(a.values + std::int64_t{u} * a.vector + channel));
      const T* x = a.x + __ldg(a.column + u);
#pragma unroll
      for (int b = 0; b < kSubBatch; ++b) {
        const std::int64_t n = n0 + b < a.images ? n0 + b : a.images - 1;
        sums[b] += w * widen(x[n * a.in]);
      }
    }
#pragma unroll
    for (int b = 0; b < kSubBatch; ++b) {
      for (int distance = kWarp / 2; distance >= a.vector; distance /= 2) {
        sums[b] += __shfl_xor_sync(0xffffffffu, sums[b], distance);
      }
      float result = sums[b] + __ldg(a.bias + k);
      if (a.has_relu && result < 0.0f) result = 0.0f;
      if (lane < a.vector && k < a.out && n0 + b < a.images) {
        a.y[(n0 + b) * a.out + k] = narrow<T>(result);
      }
    }
  }
}

// ------------------------------------------------------------------------------------ host

template <typename T, typename Column>
void launch(const LinearArguments<T, Column>& a, int sub_batch, cudaStream_t stream) {
  const std::int64_t groups = (a.images + sub_batch - 1) / sub_batch;
  const dim3 grid(static_cast<unsigned>((a.rows + kWarpsPerBlock - 1) / kWarpsPerBlock),
                  static_cast<unsigned>(groups < 65535 ? groups : 65535));
  constexpr int kThreads = kWarp * kWarpsPerBlock;
  switch (sub_batch) {
    case 1:
      launch_overlapping(sparse_linear_kernel<T, Column, 1>, {grid, kThreads}, true, stream, a);
      break;
    case 2:
      launch_overlapping(sparse_linear_kernel<T, Column, 2>, {grid, kThreads}, true, stream, a);
      break;
    case 4:
      launch_overlapping(sparse_linear_kernel<T, Column, 4>, {grid, kThreads}, true, stream, a);
      break;
    case 8:
      launch_overlapping(sparse_linear_kernel<T, Column, 8>, {grid, kThreads}, true, stream, a);
      break;
    default:
      fail(ErrorCode::usage, "sparse_linear: sub_batch ", sub_batch, " is not 1, 2, 4 or 8");
  }
}

template <typename T, typename Column>
void launch_typed(const SparseLinearWeights& w, const SparseLinearCall& call, const T* values,
                  const Column* column, cudaStream_t stream) {
  launch(LinearArguments<T, Column>{.values = values,
                                    .column = column,
                                    .begin = w.begin.get(),
                                    .bias = w.bias.get(),
                                    .x = static_cast<const T*>(call.x),
                                    .y = static_cast<T*>(call.y),
                                    .rows = w.rows,
                                    .out = w.out,
                                    .in = w.in,
                                    .images = call.images,
                                    .vector = w.vector,
                                    .has_relu = call.has_relu},
         call.sub_batch, stream);
}

template <typename T>
void launch_columns(const SparseLinearWeights& w, const SparseLinearCall& call, const T* values,
                    cudaStream_t stream) {
  if (w.column32.count() > 0) {
    launch_typed(w, call, values, w.column32.get(), stream);
  } else {
    launch_typed(w, call, values, w.column16.get(), stream);
  }
}

}  // namespace

SparseLinearWeights upload_sparse_linear(const DirectRows& rows, std::int64_t in,
                                         std::span<const float> bias, Precision precision) {
  std::vector<float> all_bias(static_cast<std::size_t>(rows.rows * rows.vector), 0.0f);
  std::copy(bias.begin(), bias.end(), all_bias.begin());
  SparseLinearWeights weights;
  weights.rows = rows.rows;
  weights.out = rows.channels;
  weights.in = in;
  weights.vector = rows.vector;
  weights.precision = precision;
  weights.begin = upload(rows.begin);
  weights.bias = upload(all_bias);
  if (precision == Precision::f32) {
    weights.values_f32 = upload(rows.values);
  } else {
    std::vector<std::uint16_t> bits;
    bits.reserve(rows.values.size());
    for (const float value : rows.values) bits.push_back(to_half(value).bits);
    weights.values_f16 = upload(bits);
  }
  if (in <= 65536) {
    weights.column16 = upload(std::vector<std::uint16_t>(rows.column.begin(), rows.column.end()));
  } else {
    weights.column32 = upload(rows.column);
  }
  return weights;
}

void sparse_linear(const SparseLinearWeights& weights, const SparseLinearCall& call,
                   cudaStream_t stream) {
  if (call.images == 0 || weights.rows == 0) return;
  if (weights.precision == Precision::f32) {
    launch_columns(weights, call, weights.values_f32.get(), stream);
  } else {
    launch_columns(weights, call, reinterpret_cast<const __half*>(weights.values_f16.get()),
                   stream);
  }
}

}  // namespace winnow
