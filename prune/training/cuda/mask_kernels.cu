#include "prune/training/cuda/moves.cuh"

namespace winnow {
namespace {

constexpr unsigned kRunValues = kChunkValues / kSelectionWarps;

// The part of a chunk that one warp works on, in order: 32 values at a time.
struct Run {
  unsigned first, last;

  __device__ explicit Run(const Chunk& chunk) {
    first = min(chunk.last, chunk.first + threadIdx.x / kWarpSize * kRunValues);
    last = min(chunk.last, first + kRunValues);
  }
};

// By lanes: whether their values at `begin` and behind it equal the threshold.
__device__ unsigned equal_lanes(const Run& run, unsigned begin, const float* values,
                                unsigned threshold) {
  const unsigned i = begin + threadIdx.x % kWarpSize;
  return __ballot_sync(kAllLanes, i < run.last && order_key(values[i]) == threshold);
}

__device__ unsigned count_equals(const Chunk& chunk, const Run& run) {
  const unsigned threshold = chunk.selection->prefix;
  unsigned count = 0;
#pragma unroll 8
  for (unsigned begin = run.first; begin < run.last; begin += kWarpSize) {
    count += __popc(equal_lanes(run, begin, chunk.layer.values, threshold));
  }
  return count;
}

// Where all values that equal the threshold stay, none is counted.
__device__ bool has_ties(const Chunk& chunk) {
  return chunk.selection->remaining < chunk.selection->equals;
}

__global__ void __launch_bounds__(kSelectionThreads) count_ties(SelectionCall call) {
  __shared__ unsigned sum;
  const Chunk chunk(call);
  if (!has_ties(chunk)) return;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  const unsigned count = count_equals(chunk, Run(chunk));
  if (threadIdx.x % kWarpSize == 0) atomicAdd(&sum, count);
  __syncthreads();
  if (threadIdx.x == 0) call.equals_of_chunk[blockIdx.x] = sum;
}

// The layer's values that equal the threshold and lie before the warp's run.
__device__ unsigned equals_before(const SelectionCall& call, const Chunk& chunk, const Run& run) {
  __shared__ unsigned in_chunks, in_runs[kSelectionWarps];
  if (threadIdx.x == 0) in_chunks = 0;
  __syncthreads();
  unsigned own = 0;
  for (unsigned i = chunk.layer.first_chunk + threadIdx.x; i < blockIdx.x; i += kSelectionThreads) {
    own += call.equals_of_chunk[i];
  }
  atomicAdd(&in_chunks, own);
  const unsigned warp = threadIdx.x / kWarpSize;
  const unsigned count = count_equals(chunk, run);
  if (threadIdx.x % kWarpSize == 0) in_runs[warp] = count;
  __syncthreads();
  unsigned before = in_chunks;
  for (unsigned i = 0; i < warp; ++i) before += in_runs[i];
  return before;
}

// Block i of the mask.
__device__ void write(const Chunk& chunk, unsigned i, bool is_kept, Moves& moves) {
  chunk.layer.mask[i] = is_kept ? 1 : 0;
  if (chunk.layer.before) moves.count(chunk.layer, i, is_kept);
}

// Of equals the lower index stays.
__device__ void write_with_ties(const Chunk& chunk, const Run& run, unsigned before, Moves& moves) {
  const unsigned threshold = chunk.selection->prefix, room = chunk.selection->remaining;
  const unsigned lane = threadIdx.x % kWarpSize;
  for (unsigned begin = run.first; begin < run.last; begin += kWarpSize) {
    const unsigned equals = equal_lanes(run, begin, chunk.layer.values, threshold);
    const unsigned rank = before + __popc(equals & ((1u << lane) - 1));
    before += __popc(equals);
    if (begin + lane >= run.last) continue;
    const bool is_above = order_key(chunk.layer.values[begin + lane]) > threshold;
    const bool is_equal = (equals >> lane & 1) != 0;
    write(chunk, begin + lane, is_above || (is_equal && rank < room), moves);
  }
}

__device__ void write_without_ties(const Chunk& chunk, Moves& moves) {
  const unsigned threshold = chunk.selection->prefix;
#pragma unroll 8
  for (unsigned i = chunk.first + threadIdx.x; i < chunk.last; i += kSelectionThreads) {
    write(chunk, i, order_key(__ldg(chunk.layer.values + i)) >= threshold, moves);
  }
}

__global__ void __launch_bounds__(kSelectionThreads) write_masks(SelectionCall call) {
  const Chunk chunk(call);
  Moves moves;
  if (has_ties(chunk)) {
    const Run run(chunk);
    write_with_ties(chunk, run, equals_before(call, chunk, run), moves);
  } else {
    write_without_ties(chunk, moves);
  }
  if (chunk.layer.before) add_to_layer(chunk.layer, moves);
}

}  // namespace

const char* launch_masks(const SelectionCall& call) {
  cudaSetDevice(call.device);
  const dim3 blocks(call.chunks), threads(kSelectionThreads);
  count_ties<<<blocks, threads, 0, call.stream>>>(call);
  write_masks<<<blocks, threads, 0, call.stream>>>(call);
  return launch_error();
}

}  // namespace winnow
