#include "prune/training/cuda/importance_launch.h"

namespace winnow {
namespace {

constexpr unsigned kImportanceThreads = 256;

// The part of a layer that the block works on.
struct ImportanceChunk {
  ImportanceLayer layer;
  unsigned index;

  __device__ explicit ImportanceChunk(const ImportanceCall& call) {
    layer = call.layers[call.layer_of_chunk[blockIdx.x]];
    index = blockIdx.x - layer.first_chunk;
  }
  __device__ unsigned columns() const { return layer.taps * layer.channels; }
};

__device__ void add(ImportanceSums& to, const ImportanceSums& more) {
  to.weights += more.weights;
  to.kept += more.kept;
  to.gradients += more.gradients;
  to.kept_gradients += more.kept_gradients;
}

// Always in the same order, so that equal values give equal bits.
__device__ ImportanceSums sum_over_block(const ImportanceSums& own) {
  __shared__ ImportanceSums sums[kImportanceThreads];
  sums[threadIdx.x] = own;
  for (unsigned half = kImportanceThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) add(sums[threadIdx.x], sums[threadIdx.x + half]);
  }
  __syncthreads();
  return sums[0];
}

__global__ void __launch_bounds__(kImportanceThreads) sum_chunks(ImportanceCall call) {
  const ImportanceChunk chunk(call);
  if (chunk.layer.alpha == 0.0) return;
  const unsigned first = chunk.index * kChunkValues;
  const unsigned last = min(chunk.layer.rows * chunk.columns(), first + kChunkValues);
  ImportanceSums own = {};
#pragma unroll 8
  for (unsigned i = first + threadIdx.x; i < last; i += kImportanceThreads) {
    const float weight = chunk.layer.weight[i];
    own.weights += fabs(static_cast<double>(weight));
    const bool is_kept = weight != 0.0f;
    own.kept += is_kept ? 1.0 : 0.0;
    if (chunk.layer.gradient) {
      const double gradient = fabs(static_cast<double>(chunk.layer.gradient[i]));
      own.gradients += gradient;
      own.kept_gradients += is_kept ? gradient : 0.0;
    }
  }
  const ImportanceSums sum = sum_over_block(own);
  if (threadIdx.x == 0) call.sums[blockIdx.x] = sum;
}

// What |w| and |g| are multiplied by.
struct Shares {
  double weight, gradient;
};

__device__ double share_over(double share, double mean) {
  return mean > 0.0 ? share / mean : 0.0;
}

// The mean of the gradients of what is kept, or where that is 0 of all.
__device__ double gradient_scale(const ImportanceChunk& chunk, const ImportanceSums& sum) {
  if (sum.kept_gradients > 0.0) return sum.kept_gradients / sum.kept;
  return sum.gradients / (static_cast<double>(chunk.layer.rows) * chunk.columns());
}

// Each block adds the layer's sums anew. Below some millions of weights that is less work than
// another launch.
__device__ Shares shares_of(const ImportanceCall& call, const ImportanceChunk& chunk) {
  const double alpha = chunk.layer.alpha;
  if (alpha == 0.0) return {1.0, 0.0};
  ImportanceSums own = {};
  for (unsigned i = threadIdx.x; i < chunk.layer.chunks; i += kImportanceThreads) {
    add(own, call.sums[chunk.layer.first_chunk + i]);
  }
  const ImportanceSums sum = sum_over_block(own);
  return {share_over(1.0 - alpha, sum.weights / fmax(sum.kept, 1.0)),
          share_over(alpha, gradient_scale(chunk, sum))};
}

// Mean of a block's `rows` weights, the first of which lies at `first`.
__device__ float block_mean(const ImportanceChunk& chunk, const Shares& shares, unsigned first,
                            unsigned rows) {
  const ImportanceLayer& layer = chunk.layer;
  const unsigned columns = chunk.columns();
  double sum = 0.0;
#pragma unroll 8
  for (unsigned row = 0; row < rows; ++row) {
    const unsigned i = first + row * columns;
    double value = shares.weight * fabs(static_cast<double>(layer.weight[i]));
    if (layer.gradient) value += shares.gradient * fabs(static_cast<double>(layer.gradient[i]));
    sum += value;
  }
  return static_cast<float>(rows > 1 ? sum / rows : sum);
}

// Neighbouring threads read neighbouring weights; with channels last their results lie apart.
__global__ void __launch_bounds__(kImportanceThreads) write_importances(ImportanceCall call) {
  const ImportanceChunk chunk(call);
  const ImportanceLayer& layer = chunk.layer;
  const Shares shares = shares_of(call, chunk);
  const unsigned columns = chunk.columns();
  const unsigned share = (layer.blocks + layer.chunks - 1) / layer.chunks;
  const unsigned last = min(layer.blocks, (chunk.index + 1) * share);
  for (unsigned i = chunk.index * share + threadIdx.x; i < last; i += kImportanceThreads) {
    const unsigned group = i / columns, column = i % columns;
    const unsigned tap = column / layer.channels, channel = column % layer.channels;
    const unsigned first_row = group * layer.vector;
    const unsigned rows = min(layer.vector, layer.rows - first_row);
    layer.importance[group * columns + channel * layer.taps + tap] =
        block_mean(chunk, shares, first_row * columns + column, rows);
  }
}

}  // namespace

const char* launch_importances(const ImportanceCall& call) {
  cudaSetDevice(call.device);
  const dim3 blocks(call.chunks), threads(kImportanceThreads);
  if (call.sums) sum_chunks<<<blocks, threads, 0, call.stream>>>(call);
  write_importances<<<blocks, threads, 0, call.stream>>>(call);
  return launch_error();
}

}  // namespace winnow
