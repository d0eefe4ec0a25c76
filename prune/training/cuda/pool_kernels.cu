#include "prune/training/cuda/pool_kernels.h"
#include "prune/training/cuda/packs.cuh"

namespace winnow {
namespace {

constexpr int kThreads = 256;

// One pack of channels of a window: where its values are in the input, and its own place in the
// output, in elements.
struct Window {
  std::int64_t input[4], output;
};

struct Sizes {
  int height, width, packs;  // height and width of the output
};

template <int kSize>
__device__ Window window_at(std::int64_t index, const Sizes& sizes) {
  const auto pack = static_cast<int>(index % sizes.packs);
  const std::int64_t position = index / sizes.packs;
  const auto x = static_cast<int>(position % sizes.width);
  const std::int64_t row = position / sizes.width;  // image * height + y
  const std::int64_t channels = static_cast<std::int64_t>(sizes.packs) * kSize;
  const std::int64_t first =
      (row * 2 * (2 * sizes.width) + 2 * x) * channels + static_cast<std::int64_t>(pack) * kSize;
  const std::int64_t below = 2 * sizes.width * channels;
  return {{first, first + channels, first + below, first + below + channels}, index * kSize};
}

template <typename T>
__device__ void load_window(const T* input, const Window& window,
                            float (&values)[4][Pack<T>::kSize]) {
#pragma unroll
  for (int i = 0; i < 4; ++i) Pack<T>::load(input + window.input[i], values[i]);
}

struct Largest {
  float value;
  int place;  // 0 to 3
};

// The first of the largest, or the last that is no number: as LibTorch chooses.
template <int kSize>
__device__ Largest largest_of(const float (&values)[4][kSize], int channel) {
  Largest best = {values[0][channel], 0};
#pragma unroll
  for (int i = 1; i < 4; ++i) {
    const float value = values[i][channel];
    if (value > best.value || isnan(value)) best = {value, i};
  }
  return best;
}

template <typename T>
__global__ void __launch_bounds__(kThreads)
    pool(const T* input, T* output, Sizes sizes, std::int64_t count) {
  constexpr int kSize = Pack<T>::kSize;
  const std::int64_t index = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (index >= count) return;
  const Window window = window_at<kSize>(index, sizes);
  float values[4][kSize], largest[kSize];
  load_window(input, window, values);
#pragma unroll
  for (int c = 0; c < kSize; ++c) largest[c] = largest_of(values, c).value;
  Pack<T>::store(output + window.output, largest);
}

template <typename T>
__global__ void __launch_bounds__(kThreads)
    spread(const T* gradient, const T* input, T* input_gradient, Sizes sizes, std::int64_t count) {
  constexpr int kSize = Pack<T>::kSize;
  const std::int64_t index = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (index >= count) return;
  const Window window = window_at<kSize>(index, sizes);
  float values[4][kSize], gradients[kSize];
  load_window(input, window, values);
  Pack<T>::load(gradient + window.output, gradients);
  int best[kSize];
#pragma unroll
  for (int c = 0; c < kSize; ++c) best[c] = largest_of(values, c).place;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    float own[kSize];
#pragma unroll
    for (int c = 0; c < kSize; ++c) own[c] = best[c] == i ? gradients[c] : 0.0f;
    Pack<T>::store(input_gradient + window.input[i], own);
  }
}

struct Launch {
  Sizes sizes;
  std::int64_t count;  // packs of the output
  dim3 blocks;
};

Launch launch_of(const PoolCall& call) {
  const std::int64_t packs = call.channels / pack_size(call.type);
  const std::int64_t count = call.images * (call.height / 2) * (call.width / 2) * packs;
  return {{static_cast<int>(call.height / 2), static_cast<int>(call.width / 2),
           static_cast<int>(packs)},
          count,
          dim3(static_cast<unsigned>((count + kThreads - 1) / kThreads))};
}

template <typename T>
void forward(const PoolCall& call, const void* input, void* output) {
  const Launch l = launch_of(call);
  pool<T><<<l.blocks, kThreads, 0, call.stream>>>(static_cast<const T*>(input),
                                                  static_cast<T*>(output), l.sizes, l.count);
}

template <typename T>
void backward(const PoolCall& call, const void* gradient, const void* input, void* input_gradient) {
  const Launch l = launch_of(call);
  spread<T><<<l.blocks, kThreads, 0, call.stream>>>(
      static_cast<const T*>(gradient), static_cast<const T*>(input),
      static_cast<T*>(input_gradient), l.sizes, l.count);
}

}  // namespace

const char* launch_pool(const PoolCall& call, const void* input, void* output) {
  cudaSetDevice(call.device);
  call.type == ImageType::f32 ? forward<float>(call, input, output)
                              : forward<__nv_bfloat16>(call, input, output);
  return launch_error();
}

const char* launch_pool_backward(const PoolCall& call, const void* gradient, const void* input,
                                 void* input_gradient) {
  cudaSetDevice(call.device);
  call.type == ImageType::f32 ? backward<float>(call, gradient, input, input_gradient)
                              : backward<__nv_bfloat16>(call, gradient, input, input_gradient);
  return launch_error();
}

}  // namespace winnow
