// A thread computes one output for all R images of the block's tile. The row of an input is read in
// chunks of 16 bytes; lanes begin at different chunks, so that a group of lanes (lane_order.h)
// meets other rows' banks only. Weights stream from L2, fetched ahead over the ends of slices and
// layers.
#include "runtime/challenge/gpu/resident_kernel.h"

#include <algorithm>

#include "runtime/base/error.h"
#include "runtime/challenge/gpu/chunk.cuh"
#include "runtime/device/cuda_check.h"

namespace winnow::challenge {
namespace {

// ---------------------------------------------------------------------------------- device

struct Output {
  void* data;
  std::uint32_t images_log2;  // R of the next launch
  bool is_half;
};

// Calls store(i, load(i)) for i from threadIdx.x on; several loads are on their way at a time.
template <typename Load, typename Store>
__device__ __forceinline__ void load_all(std::uint32_t count, Load load, Store store) {
  constexpr std::uint32_t kAtOnce = 8;
  using Value = decltype(load(0));
  for (std::uint32_t first = threadIdx.x; first < count; first += kAtOnce * kResidentThreads) {
    Value value[kAtOnce];
#pragma unroll
    for (std::uint32_t k = 0; k < kAtOnce; ++k) {
      value[k] = load(min(first + k * kResidentThreads, count - 1));
    }
#pragma unroll
    for (std::uint32_t k = 0; k < kAtOnce; ++k) {
      const std::uint32_t i = first + k * kResidentThreads;
      if (i < count) store(i, value[k]);
    }
  }
}

// The tile's inputs to shared memory.
template <typename T, int R>
__device__ void load_tile(const ResidentLaunch& a, std::uint32_t tile, T* x) {
  if (a.bits == nullptr) {
    const std::uint32_t chunks = a.rows * R * sizeof(T) / 16;
    const uint4* from = static_cast<const uint4*>(a.in) + std::size_t{tile} * chunks;
    load_all(
        chunks, [&](std::uint32_t i) { return __ldcs(from + i); },
        [&](std::uint32_t i, uint4 v) { reinterpret_cast<uint4*>(x)[i] = v; });
    return;
  }
  const std::uint32_t* words = a.bits + std::size_t{tile} * R / 32 * a.inputs;
  const std::uint32_t shift = tile * R % 32;
  load_all(
      a.rows * R, [&](std::uint32_t i) { return i / R < a.inputs ? __ldg(words + i / R) : 0u; },
      [&](std::uint32_t i, std::uint32_t word) {
        x[i] = static_cast<T>(static_cast<float>(word >> (shift + i % R) & 1));
      });
}

// The live images of the tile to consecutive places behind those of other blocks.
template <typename T, int R>
__device__ void store_live(const ResidentLaunch& a, const Output& out, std::uint32_t tile,
                           std::uint32_t mask, std::uint32_t first, const T* y) {
  const std::uint32_t image = threadIdx.x % R;
  if ((mask >> image & 1) == 0) return;
  const std::uint32_t place = first + __popc(mask & ((1u << image) - 1));
  if (threadIdx.x < R) {
    const std::uint32_t number = tile * R + image;
    const std::uint32_t id = a.in_id == nullptr ? number : a.in_id[number];
    if (a.out_id != nullptr) a.out_id[place] = id;
    if (a.live_bits != nullptr) atomicOr(a.live_bits + id / 32, 1u << id % 32);
  }
  if (out.data == nullptr) return;
  const std::uint32_t width = 1u << out.images_log2;
  const std::size_t begin =
      std::size_t{place >> out.images_log2} * a.rows * width + (place & (width - 1));
#pragma unroll 4
  for (std::uint32_t row = threadIdx.x / R; row < a.rows; row += kResidentThreads / R) {
    const std::size_t to = begin + std::size_t{row} * width;
    const T value = y[row * R + image];
    if (out.is_half) {
      static_cast<__half*>(out.data)[to] = static_cast<__half>(value);
    } else {
      static_cast<float*>(out.data)[to] = static_cast<float>(value);
    }
  }
}

template <typename T, int R>
__global__ void __launch_bounds__(kResidentThreads, 1)
    resident_kernel(const ResidentLaunch a, const Output out) {
  extern __shared__ __align__(128) unsigned char memory[];
  constexpr int kImages = Chunk<T>::kImages;
  constexpr std::uint32_t kRow = R * sizeof(T);
  constexpr int kChunks = kRow / 16;
  constexpr std::uint32_t kClasses = 128 / kRow;
  const std::uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const std::uint32_t turn =
      lane / kClasses % kChunks * 16;  // the chunk that this lane reads first
  const std::uint32_t buffer = a.rows * kRow;
  const std::uint32_t images = *a.in_count;
  __shared__ std::uint32_t live_mask, first_place;

  for (std::uint32_t tile = blockIdx.x; tile * R < images; tile += gridDim.x) {
    const std::size_t start =
        warp * a.weights.stream + a.weights.begin[a.first_layer * kResidentWarps + warp];
    const uint2* next_row = a.weights.row + start * 32 + lane;
    const float4* next_value = a.weights.value + start * 32 + lane;
    uint2 rows[kResidentUnroll];
    float4 values[kResidentUnroll];
#pragma unroll
    for (int q = 0; q < kResidentUnroll; ++q, next_row += 32, next_value += 32) {
      rows[q] = __ldg(next_row);
      values[q] = __ldg(next_value);
    }
    ResidentLayer layer = a.weights.layer[a.first_layer];
    if (threadIdx.x == 0) live_mask = 0;
    load_tile<T, R>(a, tile, reinterpret_cast<T*>(memory));
    __syncthreads();

    const unsigned char* x = memory;
    unsigned char* y = memory + buffer;
    std::uint32_t mine = 0;  // images that are not 0 in this thread's outputs of the last layer
    for (std::uint32_t l = a.first_layer; l < a.last_layer; ++l) {
      const ResidentLayer following =
          l + 1 < a.last_layer ? a.weights.layer[l + 1] : ResidentLayer{};
      for (std::uint32_t s = warp; s < layer.slices; s += kResidentWarps) {
        const std::uint32_t steps = __ldg(a.weights.steps + layer.first_slice + s);
        const float bias = __ldg(a.weights.bias + (layer.first_slice + s) * 32 + lane);
        float sum[kChunks][kImages] = {};
#pragma unroll 1
        for (std::uint32_t k = 0; k < steps; k += kResidentUnroll) {
#pragma unroll
          for (int q = 0; q < kResidentUnroll; ++q, next_row += 32, next_value += 32) {
            const std::uint32_t row[4] = {rows[q].x & 0xffff, rows[q].x >> 16, rows[q].y & 0xffff,
                                          rows[q].y >> 16};
            const float weight[4] = {values[q].x, values[q].y, values[q].z, values[q].w};
            rows[q] = __ldg(next_row);
            values[q] = __ldg(next_value);
#pragma unroll
            for (int c = 0; c < 4; ++c) {
              const std::uint32_t at = row[c] * kRow + turn;
#pragma unroll
              for (int j = 0; j < kChunks; ++j) {
                Chunk<T>::add(*reinterpret_cast<const uint4*>(x + (at ^ j * 16)), weight[c],
                              sum[j]);
              }
            }
          }
        }
        const std::uint32_t at = (s * 32 + lane) * kRow + turn;
#pragma unroll
        for (int j = 0; j < kChunks; ++j) {
          const std::uint32_t positive = activate(sum[j], bias);
          if (l + 1 == a.last_layer) mine |= positive << (turn / 16 ^ j) * kImages;
          *reinterpret_cast<uint4*>(y + (at ^ j * 16)) = Chunk<T>::pack(sum[j]);
        }
      }
      layer = following;
      __syncthreads();
      unsigned char* const written = y;
      y = const_cast<unsigned char*>(x);
      x = written;
    }

    mine = __reduce_or_sync(0xffffffffu, mine);
    if (lane == 0) atomicOr(&live_mask, mine);
    __syncthreads();
    const std::uint32_t there = images - tile * R;
    const std::uint32_t mask = there < R ? live_mask & ((1u << there) - 1) : live_mask;
    if (threadIdx.x == 0) first_place = atomicAdd(a.out_count, __popc(mask));
    __syncthreads();
    store_live<T, R>(a, out, tile, mask, first_place, reinterpret_cast<const T*>(x));
    __syncthreads();
  }
}

// ------------------------------------------------------------------------------------ host

std::uint32_t log2_of(int n) {
  std::uint32_t log2 = 0;
  while (1 << log2 < n) ++log2;
  return log2;
}

template <typename T, int R>
void launch_form(const ResidentLaunch& launch, int processors, cudaStream_t stream) {
  const auto bytes = static_cast<int>(resident_shared_bytes(launch.form, launch.rows));
  CUDA_CHECK(cudaFuncSetAttribute(resident_kernel<T, R>,
                                  cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  const Output out{launch.out, log2_of(launch.out_form.images), launch.out_form.is_half};
  resident_kernel<T, R><<<processors, kResidentThreads, bytes, stream>>>(launch, out);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace

std::size_t resident_shared_bytes(const ResidentForm& form, std::uint32_t rows) {
  return std::size_t{2} * rows * form.row_bytes();
}

void launch_resident(const ResidentLaunch& launch, int processors, cudaStream_t stream) {
  const ResidentForm& form = launch.form;
  if (form == ResidentForm{false, 16}) return launch_form<float, 16>(launch, processors, stream);
  if (form == ResidentForm{false, 8}) return launch_form<float, 8>(launch, processors, stream);
  if (form == ResidentForm{false, 4}) return launch_form<float, 4>(launch, processors, stream);
  if (form == ResidentForm{true, 16}) return launch_form<__half, 16>(launch, processors, stream);
  if (form == ResidentForm{true, 8}) return launch_form<__half, 8>(launch, processors, stream);
  fail(ErrorCode::internal, "resident kernel: no such form");
}

}  // namespace winnow::challenge
