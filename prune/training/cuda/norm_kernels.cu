#include "prune/training/cuda/norm_kernels.h"

#include "prune/training/cuda/channel_sums.cuh"

namespace winnow {
namespace {

constexpr std::int64_t kMostBlocks = 528;  // four for each multiprocessor of an H200
constexpr std::int64_t kRowsPerThread = 4;

Lanes lanes_of(const NormCall& call) {
  return lanes(call.rows, call.channels / pack_size(call.type), kMostBlocks, kRowsPerThread);
}

// Sums of x - k and of its square. k is the channel's first value, so that a mean far from 0 takes
// no digits from the variance.
template <typename T>
__global__ void __launch_bounds__(kThreads)
    sum_values(const T* input, std::int64_t rows, int channels, float* partial) {
  constexpr int kSize = Pack<T>::kSize;
  const int channel = channel_of_thread<T>();
  float sum[kSize] = {}, square[kSize] = {};
  if (channel < channels) {
    float first[kSize];
    Pack<T>::load(input + channel, first);
#pragma unroll 4
    for (std::int64_t row = blockIdx.x * blockDim.y + threadIdx.y; row < rows;
         row += gridDim.x * blockDim.y) {
      float values[kSize];
      Pack<T>::load(input + row * channels + channel, values);
#pragma unroll
      for (int i = 0; i < kSize; ++i) {
        const float difference = values[i] - first[i];
        sum[i] += difference;
        square[i] = fmaf(difference, difference, square[i]);
      }
    }
  }
  store_block_sums<T>(sum, square, channels, partial);
}

__device__ inline float to_float(float value) {
  return value;
}
__device__ inline float to_float(__nv_bfloat16 value) {
  return __bfloat162float(value);
}

template <typename T>
__global__ void finish_statistics(NormForward norm, std::int64_t rows, int channels, int blocks) {
  const double2 sum = sum_of_blocks(norm.workspace, blocks, channels);
  const int channel =
      static_cast<int>(blockIdx.x) * kFinishChannels + static_cast<int>(threadIdx.x);
  if (threadIdx.y > 0 || channel >= channels) return;
  const double count = static_cast<double>(rows);
  const double from_first = sum.x / count;
  const double mean =
      from_first + static_cast<double>(to_float(static_cast<const T*>(norm.input)[channel]));
  // A sum that is no number stays one.
  double variance = sum.y / count - from_first * from_first;
  if (variance < 0.0) variance = 0.0;
  norm.mean[channel] = static_cast<float>(mean);
  norm.inverse_deviation[channel] = static_cast<float>(1.0 / sqrt(variance + norm.epsilon));
  const double unbiased = rows > 1 ? variance * count / (count - 1.0) : variance;
  norm.running_mean[channel] =
      static_cast<float>((1.0 - norm.momentum) * norm.running_mean[channel] + norm.momentum * mean);
  norm.running_var[channel] = static_cast<float>((1.0 - norm.momentum) * norm.running_var[channel] +
                                                 norm.momentum * unbiased);
}

// What batch norm is of a channel once its statistics are known: scale x + shift.
template <int kSize>
struct Line {
  float scale[kSize], shift[kSize];

  __device__ Line(const float* weight, const float* bias, const float* mean,
                  const float* inverse_deviation, int channel) {
#pragma unroll
    for (int i = 0; i < kSize; ++i) {
      scale[i] = weight[channel + i] * inverse_deviation[channel + i];
      shift[i] = bias[channel + i] - mean[channel + i] * scale[i];
    }
  }
  __device__ float at(int i, float value) const {
    return fmaf(value, scale[i], shift[i]);
  }
};

template <typename T, bool kHasRelu>
__global__ void __launch_bounds__(kThreads)
    normalize(NormForward norm, std::int64_t rows, int channels) {
  constexpr int kSize = Pack<T>::kSize;
  const int channel = channel_of_thread<T>();
  if (channel >= channels) return;
  const Line<kSize> line(norm.weight, norm.bias, norm.mean, norm.inverse_deviation, channel);
  const T* input = static_cast<const T*>(norm.input) + channel;
  T* output = static_cast<T*>(norm.output) + channel;
#pragma unroll 4
  for (std::int64_t row = blockIdx.x * blockDim.y + threadIdx.y; row < rows;
       row += gridDim.x * blockDim.y) {
    float values[kSize];
    Pack<T>::load(input + row * channels, values);
#pragma unroll
    for (int i = 0; i < kSize; ++i) {
      values[i] = line.at(i, values[i]);
      if (kHasRelu && values[i] < 0.0f) values[i] = 0.0f;  // what is no number stays
    }
    Pack<T>::store(output + row * channels, values);
  }
}

// The gradient by what the positive part was taken of.
template <bool kHasRelu, int kSize>
__device__ void mask_gradient(const Line<kSize>& line, const float (&values)[kSize],
                              float (&gradients)[kSize]) {
  if constexpr (kHasRelu) {
#pragma unroll
    for (int i = 0; i < kSize; ++i) {
      if (line.at(i, values[i]) <= 0.0f) gradients[i] = 0.0f;
    }
  }
}

// Sums of the gradient g and of g (x - mean).
template <typename T, bool kHasRelu>
__global__ void __launch_bounds__(kThreads)
    sum_gradients(NormBackward norm, std::int64_t rows, int channels) {
  constexpr int kSize = Pack<T>::kSize;
  const int channel = channel_of_thread<T>();
  float sum[kSize] = {}, product[kSize] = {};
  if (channel < channels) {
    const Line<kSize> line(norm.weight, norm.bias, norm.mean, norm.inverse_deviation, channel);
    float mean[kSize];
#pragma unroll
    for (int i = 0; i < kSize; ++i) mean[i] = norm.mean[channel + i];
#pragma unroll 2
    for (std::int64_t row = blockIdx.x * blockDim.y + threadIdx.y; row < rows;
         row += gridDim.x * blockDim.y) {
      float values[kSize], gradients[kSize];
      Pack<T>::load(static_cast<const T*>(norm.input) + row * channels + channel, values);
      Pack<T>::load(static_cast<const T*>(norm.gradient) + row * channels + channel, gradients);
      mask_gradient<kHasRelu>(line, values, gradients);
#pragma unroll
      for (int i = 0; i < kSize; ++i) {
        sum[i] += gradients[i];
        product[i] = fmaf(gradients[i], values[i] - mean[i], product[i]);
      }
    }
  }
  store_block_sums<T>(sum, product, channels, norm.workspace);
}

// Behind the partial sums: [2][channels], the means of g and of g (x - mean) / variance.
__host__ __device__ inline float* means_of(float* workspace, int blocks, int channels) {
  return workspace + static_cast<std::int64_t>(2) * blocks * channels;
}

__global__ void finish_gradients(NormBackward norm, std::int64_t rows, int channels, int blocks) {
  const double2 sum = sum_of_blocks(norm.workspace, blocks, channels);
  const int channel =
      static_cast<int>(blockIdx.x) * kFinishChannels + static_cast<int>(threadIdx.x);
  if (threadIdx.y > 0 || channel >= channels) return;
  const double inverse = norm.inverse_deviation[channel];
  norm.weight_gradient[channel] = static_cast<float>(sum.y * inverse);
  norm.bias_gradient[channel] = static_cast<float>(sum.x);
  float* means = means_of(norm.workspace, blocks, channels);
  means[channel] = static_cast<float>(sum.x / static_cast<double>(rows));
  means[channels + channel] =
      static_cast<float>(sum.y * inverse * inverse / static_cast<double>(rows));
}

// With d = inverse_deviation: weight d (g - mean(g) - (x - mean) d^2 mean(g (x - mean))).
template <typename T, bool kHasRelu>
__global__ void __launch_bounds__(kThreads)
    propagate(NormBackward norm, std::int64_t rows, int channels, int blocks) {
  constexpr int kSize = Pack<T>::kSize;
  const int channel = channel_of_thread<T>();
  if (channel >= channels) return;
  const Line<kSize> line(norm.weight, norm.bias, norm.mean, norm.inverse_deviation, channel);
  const float* means = means_of(norm.workspace, blocks, channels);
  float of_value[kSize], constant[kSize];
#pragma unroll
  for (int i = 0; i < kSize; ++i) {
    of_value[i] = -line.scale[i] * means[channels + channel + i];
    constant[i] = -line.scale[i] * means[channel + i] - of_value[i] * norm.mean[channel + i];
  }
#pragma unroll 2
  for (std::int64_t row = blockIdx.x * blockDim.y + threadIdx.y; row < rows;
       row += gridDim.x * blockDim.y) {
    float values[kSize], gradients[kSize];
    Pack<T>::load(static_cast<const T*>(norm.input) + row * channels + channel, values);
    Pack<T>::load(static_cast<const T*>(norm.gradient) + row * channels + channel, gradients);
    mask_gradient<kHasRelu>(line, values, gradients);
#pragma unroll
    for (int i = 0; i < kSize; ++i) {
      gradients[i] = fmaf(line.scale[i], gradients[i], fmaf(of_value[i], values[i], constant[i]));
    }
    Pack<T>::store(static_cast<T*>(norm.input_gradient) + row * channels + channel, gradients);
  }
}

dim3 finish_blocks(std::int64_t channels) {
  return dim3(static_cast<unsigned>((channels + kFinishChannels - 1) / kFinishChannels));
}

constexpr dim3 kFinishThreads(kFinishChannels, kFinishRows);

template <typename T, bool kHasRelu>
void forward(const NormCall& call, const NormForward& norm) {
  const Lanes l = lanes_of(call);
  const auto channels = static_cast<int>(call.channels);
  const auto blocks = static_cast<int>(l.blocks.x);
  sum_values<T><<<l.blocks, l.threads, 0, call.stream>>>(static_cast<const T*>(norm.input),
                                                         call.rows, channels, norm.workspace);
  finish_statistics<T><<<finish_blocks(call.channels), kFinishThreads, 0, call.stream>>>(
      norm, call.rows, channels, blocks);
  normalize<T, kHasRelu><<<l.blocks, l.threads, 0, call.stream>>>(norm, call.rows, channels);
}

template <typename T, bool kHasRelu>
void backward(const NormCall& call, const NormBackward& norm) {
  const Lanes l = lanes_of(call);
  const auto channels = static_cast<int>(call.channels);
  const auto blocks = static_cast<int>(l.blocks.x);
  sum_gradients<T, kHasRelu><<<l.blocks, l.threads, 0, call.stream>>>(norm, call.rows, channels);
  finish_gradients<<<finish_blocks(call.channels), kFinishThreads, 0, call.stream>>>(
      norm, call.rows, channels, blocks);
  propagate<T, kHasRelu>
      <<<l.blocks, l.threads, 0, call.stream>>>(norm, call.rows, channels, blocks);
}

}  // namespace

std::int64_t norm_workspace(const NormCall& call) {
  return 2 * call.channels * (static_cast<std::int64_t>(lanes_of(call).blocks.x) + 1);
}

const char* launch_norm(const NormCall& call, const NormForward& norm) {
  cudaSetDevice(call.device);
  if (call.type == ImageType::f32) {
    call.has_relu ? forward<float, true>(call, norm) : forward<float, false>(call, norm);
  } else {
    call.has_relu ? forward<__nv_bfloat16, true>(call, norm)
                  : forward<__nv_bfloat16, false>(call, norm);
  }
  return launch_error();
}

const char* launch_norm_backward(const NormCall& call, const NormBackward& norm) {
  cudaSetDevice(call.device);
  if (call.type == ImageType::f32) {
    call.has_relu ? backward<float, true>(call, norm) : backward<float, false>(call, norm);
  } else {
    call.has_relu ? backward<__nv_bfloat16, true>(call, norm)
                  : backward<__nv_bfloat16, false>(call, norm);
  }
  return launch_error();
}

}  // namespace winnow
