#include "prune/training/cuda/selection.cuh"

namespace winnow {
namespace {

// Bits kShift to kShift + kBits - 1 of a key, of which those above have been found.
template <int kShift, int kBits>
struct Digit {
  static constexpr int kBins = 1 << kBits;
  static constexpr int kOwnBins = kBins / kSelectionThreads;  // of each thread

  __device__ static bool follows(unsigned key, unsigned prefix) {
    if constexpr (kShift + kBits == 32) {
      return true;
    } else {
      return key >> (kShift + kBits) == prefix;
    }
  }
  __device__ static unsigned of(unsigned key) { return (key >> kShift) & (kBins - 1); }
};

template <typename Place>
__device__ void count_digits(const Chunk& chunk, unsigned* histogram) {
  const unsigned prefix = chunk.selection->prefix;
#pragma unroll 8
  for (unsigned i = chunk.first + threadIdx.x; i < chunk.last; i += kSelectionThreads) {
    const unsigned key = order_key(chunk.layer.values[i]);
    if (Place::follows(key, prefix)) atomicAdd(histogram + Place::of(key), 1u);
  }
}

// Counts are integers: they do not depend on the order of the blocks.
template <typename Place>
__device__ void add_to_layer(const unsigned* histogram, Selection* selection) {
  for (int bin = threadIdx.x; bin < Place::kBins; bin += kSelectionThreads) {
    if (histogram[bin] > 0) atomicAdd(selection->bins + bin, histogram[bin]);
  }
}

// Whether all other blocks of the layer have added their counts. The last one sees them all.
__device__ bool is_last_of_layer(const Chunk& chunk) {
  __shared__ bool is_last;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    is_last = atomicAdd(&chunk.selection->finished, 1u) + 1 == chunk.layer.chunks;
  }
  __syncthreads();
  __threadfence();
  return is_last;
}

// The sum over the block's threads before this one.
__device__ unsigned sum_before(unsigned value) {
  __shared__ unsigned of_warp[kSelectionWarps];
  const int lane = threadIdx.x % kWarpSize, warp = threadIdx.x / kWarpSize;
  unsigned sum = value;
#pragma unroll
  for (int step = 1; step < kWarpSize; step *= 2) {
    const unsigned before = __shfl_up_sync(kAllLanes, sum, step);
    if (lane >= step) sum += before;
  }
  if (lane == kWarpSize - 1) of_warp[warp] = sum;
  __syncthreads();
  sum -= value;
  for (int i = 0; i < warp; ++i) sum += of_warp[i];
  return sum;
}

// Appends the digit of the remaining-th largest value, and clears the counts for the next pass.
// Threads look from the largest digit on, each at its own ones.
template <typename Place>
__device__ void find_digit(Selection* selection, unsigned remaining) {
  const int top = Place::kBins - 1 - static_cast<int>(threadIdx.x) * Place::kOwnBins;
  unsigned counts[Place::kOwnBins], own = 0;
#pragma unroll
  for (int i = 0; i < Place::kOwnBins; ++i) {
    counts[i] = __ldcg(selection->bins + top - i);
    selection->bins[top - i] = 0;
    own += counts[i];
  }
  unsigned above = sum_before(own);
  const bool is_above = threadIdx.x > 0 && above >= remaining;  // some thread before has the digit
  if (is_above || above + own < remaining) return;
  int i = 0;
  while (above + counts[i] < remaining) above += counts[i++];
  selection->prefix = selection->prefix * Place::kBins + static_cast<unsigned>(top - i);
  selection->remaining = remaining - above;
  selection->equals = counts[i];
  selection->finished = 0;
}

// One pass: the threshold's next digit in every layer. Of nothing to keep the threshold is the
// largest key, which no value has.
template <typename Place, bool kIsFirst>
__global__ void __launch_bounds__(kSelectionThreads) narrow_thresholds(SelectionCall call) {
  __shared__ unsigned histogram[Place::kBins];
  const Chunk chunk(call);
  for (int bin = threadIdx.x; bin < Place::kBins; bin += kSelectionThreads) histogram[bin] = 0;
  __syncthreads();
  count_digits<Place>(chunk, histogram);
  const unsigned remaining = kIsFirst ? chunk.layer.count : chunk.selection->remaining;
  __syncthreads();
  add_to_layer<Place>(histogram, chunk.selection);
  if (is_last_of_layer(chunk)) find_digit<Place>(chunk.selection, remaining);
}

}  // namespace

std::size_t selection_workspace(std::size_t layers) {
  return layers * (sizeof(Selection) / sizeof(unsigned));
}

const char* launch_thresholds(const SelectionCall& call) {
  cudaSetDevice(call.device);
  const dim3 blocks(call.chunks), threads(kSelectionThreads);
  narrow_thresholds<Digit<21, 11>, true><<<blocks, threads, 0, call.stream>>>(call);
  narrow_thresholds<Digit<10, 11>, false><<<blocks, threads, 0, call.stream>>>(call);
  narrow_thresholds<Digit<0, 10>, false><<<blocks, threads, 0, call.stream>>>(call);
  return launch_error();
}

}  // namespace winnow
