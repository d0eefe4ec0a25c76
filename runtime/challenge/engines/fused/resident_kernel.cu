// How a tile comes in, from bits or from the launch before, and how its live images go out; the
// layers between are those of runtime/sparse/resident_layers.cuh and resident_fragments.cuh.
#include "runtime/challenge/engines/fused/resident_kernel.h"

#include <algorithm>

#include "runtime/base/error.h"
#include "runtime/challenge/engines/gpu/activation.cuh"
#include "runtime/device/cuda_check.h"
#include "runtime/sparse/resident_fragments.cuh"
#include "runtime/sparse/resident_layers.cuh"

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

// The tile's activations to shared memory.
template <typename T, int R>
__device__ void load_tile(const ResidentLaunch& a, std::uint32_t tile, T* x) {
  const std::uint32_t chunks = a.rows * R * sizeof(T) / 16;
  const uint4* from = static_cast<const uint4*>(a.in.data) + std::size_t{tile} * chunks;
  load_all(
      chunks, [&](std::uint32_t i) { return __ldcs(from + i); },
      [&](std::uint32_t i, uint4 v) { reinterpret_cast<uint4*>(x)[i] = v; });
}

// The word of bits that has the tile's images of an input, and the first of them.
struct TileBits {
  const std::uint32_t* words;
  std::uint32_t shift;
};
template <int R>
__device__ __forceinline__ TileBits bits_of_tile(const ResidentLaunch& a, std::uint32_t tile) {
  return {a.in.bits + std::size_t{tile} * R / 32 * a.in.inputs, tile * R % 32};
}

// The tile's images to shared memory, as activations 0 and 1.
template <typename T, int R>
__device__ void load_images(const ResidentLaunch& a, std::uint32_t tile, T* x) {
  const TileBits bits = bits_of_tile<R>(a, tile);
  load_all(
      a.rows * R,
      [&](std::uint32_t i) { return i / R < a.in.inputs ? __ldg(bits.words + i / R) : 0u; },
      [&](std::uint32_t i, std::uint32_t word) {
        x[i] = static_cast<T>(static_cast<float>(word >> (bits.shift + i % R) & 1));
      });
}

// The same as bits: a word for each row.
template <int R>
__device__ void load_bits(const ResidentLaunch& a, std::uint32_t tile, std::uint32_t* x) {
  const TileBits bits = bits_of_tile<R>(a, tile);
  load_all(
      a.rows, [&](std::uint32_t i) { return i < a.in.inputs ? __ldg(bits.words + i) : 0u; },
      [&](std::uint32_t i, std::uint32_t word) { x[i] = word >> bits.shift; });
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
    const std::uint32_t id = a.in.id == nullptr ? number : a.in.id[number];
    if (a.out.id != nullptr) a.out.id[place] = id;
    if (a.out.live_bits != nullptr) atomicOr(a.out.live_bits + id / 32, 1u << id % 32);
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

// How a tile comes in.
enum class Input {
  activations,
  images,  // bits that become activations
  bits,    // which the first layer reads as such: less of shared memory's time
};

template <typename T, int R, typename Stream, Input kInput>
__global__ void __launch_bounds__(kResidentThreads, 1)
    resident_kernel(const ResidentLaunch a, const Output out) {
  extern __shared__ __align__(128) unsigned char memory[];
  auto* const activations = reinterpret_cast<T*>(memory);
  auto* const words = reinterpret_cast<std::uint32_t*>(memory);
  const std::uint32_t images = *a.in.count;
  __shared__ std::uint32_t live_mask, first_place;

  for (std::uint32_t tile = blockIdx.x; tile * R < images; tile += gridDim.x) {
    ThreadBlock threads;
    Stream stream(a.weights, a.first_layer, threads.warp());
    if (threadIdx.x == 0) live_mask = 0;
    if constexpr (kInput == Input::activations) load_tile<T, R>(a, tile, activations);
    if constexpr (kInput == Input::images) load_images<T, R>(a, tile, activations);
    if constexpr (kInput == Input::bits) load_bits<R>(a, tile, words);
    __syncthreads();
    ResidentBuffers buffers{memory, memory + a.rows * ResidentRow<T, R>::kBytes};
    std::uint32_t layer = a.first_layer, mine = 0;
    if constexpr (kInput == Input::bits) {
      mine = run_layer<T, R>(threads, __ldg(a.weights.slices + layer), stream, buffers,
                             ChallengeEpilogue{}, layer + 1 == a.last_layer,
                             [&](std::uint32_t steps, typename Stream::Sums& sums) {
                               stream.add_bits(steps, words, sums);
                             });
      ++layer;
    }
    if (layer < a.last_layer) {
      mine = run_layers<T, R>(threads, a.weights, layer, a.last_layer, stream, buffers,
                              [](std::uint32_t) { return ChallengeEpilogue{}; });
    }

    mine = __reduce_or_sync(0xffffffffu, mine);
    if (threadIdx.x % 32 == 0) atomicOr(&live_mask, mine);
    __syncthreads();
    const std::uint32_t there = images - tile * R;
    const std::uint32_t mask = there < R ? live_mask & ((1u << there) - 1) : live_mask;
    if (threadIdx.x == 0) first_place = atomicAdd(a.out.count, __popc(mask));
    __syncthreads();
    store_live<T, R>(a, out, tile, mask, first_place, reinterpret_cast<const T*>(buffers.x));
    __syncthreads();
  }
}

// ------------------------------------------------------------------------------------ host

std::uint32_t log2_of(int n) {
  std::uint32_t log2 = 0;
  while (1 << log2 < n) ++log2;
  return log2;
}

template <typename T, int R, typename Stream, Input kInput>
void launch_kernel(const ResidentLaunch& launch, int sms, cudaStream_t stream) {
  const auto kernel = resident_kernel<T, R, Stream, kInput>;
  const auto bytes = static_cast<int>(launch.form.shared_bytes(launch.rows));
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  const Output out{launch.out.data, log2_of(launch.out.form.images), launch.out.form.is_half};
  kernel<<<sms, kResidentThreads, bytes, stream>>>(launch, out);
  CUDA_CHECK(cudaGetLastError());
}

// Sums by FMAs, or of fp16 activations by tensor cores.
template <typename T, int R>
void launch_fma(const ResidentLaunch& launch, int sms, cudaStream_t stream) {
  using Stream = ResidentStream<T, R>;
  if (launch.in.bits != nullptr) {
    launch_kernel<T, R, Stream, Input::bits>(launch, sms, stream);
  } else {
    launch_kernel<T, R, Stream, Input::activations>(launch, sms, stream);
  }
}
template <int R>
void launch_mma(const ResidentLaunch& launch, int sms, cudaStream_t stream) {
  using Stream = FragmentStream<R>;
  if (launch.in.bits != nullptr) {
    launch_kernel<__half, R, Stream, Input::images>(launch, sms, stream);
  } else {
    launch_kernel<__half, R, Stream, Input::activations>(launch, sms, stream);
  }
}

}  // namespace

void launch_resident(const ResidentLaunch& launch, int sms, cudaStream_t stream) {
  const ResidentForm& form = launch.form;
  if (launch.has_fragments) {
    if (form == ResidentForm{true, 16}) return launch_mma<16>(launch, sms, stream);
    if (form == ResidentForm{true, 8}) return launch_mma<8>(launch, sms, stream);
    fail(ErrorCode::internal, "resident kernel: no such form by tensor cores");
  }
  if (form == ResidentForm{false, 16}) return launch_fma<float, 16>(launch, sms, stream);
  if (form == ResidentForm{false, 8}) return launch_fma<float, 8>(launch, sms, stream);
  if (form == ResidentForm{false, 4}) return launch_fma<float, 4>(launch, sms, stream);
  if (form == ResidentForm{true, 16}) return launch_fma<__half, 16>(launch, sms, stream);
  if (form == ResidentForm{true, 8}) return launch_fma<__half, 8>(launch, sms, stream);
  fail(ErrorCode::internal, "resident kernel: no such form");
}

}  // namespace winnow::challenge
