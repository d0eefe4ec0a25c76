#include "prune/training/cuda/norm_line.cuh"

namespace winnow {
namespace {

// The gradient by what the positive part was taken of.
template <int kSize>
__device__ void mask_gradient(const Line<kSize>& line, const float (&values)[kSize],
                              float (&gradients)[kSize]) {
#pragma unroll
  for (int i = 0; i < kSize; ++i) {
    if (line.at(i, values[i]) <= 0.0f) gradients[i] = 0.0f;
  }
}

// The same by the output. It is the addend's gradient too, and written as that.
template <typename T>
__device__ void mask_and_store_gradient(const NormBackward& norm, std::int64_t place,
                                        float (&gradients)[Pack<T>::kSize]) {
  float outputs[Pack<T>::kSize];
  Pack<T>::load(static_cast<const T*>(norm.output) + place, outputs);
#pragma unroll
  for (int i = 0; i < Pack<T>::kSize; ++i) {
    if (outputs[i] <= 0.0f) gradients[i] = 0.0f;
  }
  Pack<T>::store(static_cast<T*>(norm.addend_gradient) + place, gradients);
}

// Values of a row, and the gradients by what the norm makes of them.
template <typename T, Tail kTail>
__device__ void load_row(const Line<Pack<T>::kSize>& line, const T* input, const T* gradient,
                         float (&values)[Pack<T>::kSize], float (&gradients)[Pack<T>::kSize]) {
  Pack<T>::load(input, values);
  Pack<T>::load(gradient, gradients);
  if constexpr (kTail == Tail::relu) mask_gradient(line, values, gradients);
}

// Sums of the gradient g and of g (x - mean).
template <typename T, Tail kTail>
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
      const std::int64_t place = row * channels + channel;
      float values[kSize], gradients[kSize];
      load_row<T, kTail>(line, static_cast<const T*>(norm.input) + place,
                         static_cast<const T*>(norm.gradient) + place, values, gradients);
      if constexpr (kTail == Tail::sum_relu) mask_and_store_gradient<T>(norm, place, gradients);
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
  const int channel = channel_to_finish();
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
template <typename T, Tail kTail>
__global__ void __launch_bounds__(kThreads)
    propagate(NormBackward norm, std::int64_t rows, int channels, int blocks) {
  constexpr int kSize = Pack<T>::kSize;
  const int channel = channel_of_thread<T>();
  if (channel >= channels) return;
  const Line<kSize> line(norm.weight, norm.bias, norm.mean, norm.inverse_deviation, channel);
  // Behind a sum with a ReLU the first pass has written g.
  const T* gradient =
      static_cast<const T*>(kTail == Tail::sum_relu ? norm.addend_gradient : norm.gradient);
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
    const std::int64_t place = row * channels + channel;
    float values[kSize], gradients[kSize];
    load_row<T, kTail>(line, static_cast<const T*>(norm.input) + place, gradient + place, values,
                       gradients);
#pragma unroll
    for (int i = 0; i < kSize; ++i) {
      gradients[i] = fmaf(line.scale[i], gradients[i], fmaf(of_value[i], values[i], constant[i]));
    }
    Pack<T>::store(static_cast<T*>(norm.input_gradient) + place, gradients);
  }
}

template <typename T, Tail kTail>
void backward(const NormCall& call, const NormBackward& norm) {
  const Lanes l = lanes_of(call);
  const auto channels = static_cast<int>(call.channels);
  const auto blocks = static_cast<int>(l.blocks.x);
  sum_gradients<T, kTail><<<l.blocks, l.threads, 0, call.stream>>>(norm, call.rows, channels);
  finish_gradients<<<finish_blocks(call.channels), kFinishThreads, 0, call.stream>>>(
      norm, call.rows, channels, blocks);
  propagate<T, kTail><<<l.blocks, l.threads, 0, call.stream>>>(norm, call.rows, channels, blocks);
}

// The gradient by a sum alone is that by the output.
template <typename T>
void backward(const NormCall& call, const NormBackward& norm) {
  if (call.has_addend && call.has_relu) {
    backward<T, Tail::sum_relu>(call, norm);
  } else {
    call.has_relu ? backward<T, Tail::relu>(call, norm) : backward<T, Tail::none>(call, norm);
  }
}

}  // namespace

const char* launch_norm_backward(const NormCall& call, const NormBackward& norm) {
  cudaSetDevice(call.device);
  call.type == ImageType::f32 ? backward<float>(call, norm) : backward<__nv_bfloat16>(call, norm);
  return launch_error();
}

}  // namespace winnow
