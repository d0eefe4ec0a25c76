#include "prune/training/cuda/norm_line.cuh"

namespace winnow {
namespace {

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
  const int channel = channel_to_finish();
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

template <typename T>
__device__ void add_to_rounded(const T* addend, float (&values)[Pack<T>::kSize]) {
  float more[Pack<T>::kSize];
  Pack<T>::load(addend, more);
#pragma unroll
  for (int i = 0; i < Pack<T>::kSize; ++i) {
    values[i] = Pack<T>::rounded(values[i]) + more[i];
  }
}

// Whose mean and variance a norm has.
enum class Statistics { batch, running };

template <Statistics kStatistics, int kSize>
__device__ Line<kSize> line_of(const NormForward& norm, int channel) {
  if constexpr (kStatistics == Statistics::batch) {
    return Line<kSize>(norm.weight, norm.bias, norm.mean, norm.inverse_deviation, channel);
  } else {
    const auto epsilon = static_cast<float>(norm.epsilon);
    const float* variance = norm.running_var;
    return Line<kSize>(norm.weight, norm.bias, norm.running_mean, channel,
                       [=](int c) { return 1.0f / sqrtf(variance[c] + epsilon); });
  }
}

template <typename T, Tail kTail, Statistics kStatistics>
__global__ void __launch_bounds__(kThreads)
    normalize(NormForward norm, std::int64_t rows, int channels) {
  constexpr int kSize = Pack<T>::kSize;
  const int channel = channel_of_thread<T>();
  if (channel >= channels) return;
  const Line<kSize> line = line_of<kStatistics, kSize>(norm, channel);
  const T* input = static_cast<const T*>(norm.input) + channel;
  T* output = static_cast<T*>(norm.output) + channel;
#pragma unroll 4
  for (std::int64_t row = blockIdx.x * blockDim.y + threadIdx.y; row < rows;
       row += gridDim.x * blockDim.y) {
    float values[kSize];
    Pack<T>::load(input + row * channels, values);
#pragma unroll
    for (int i = 0; i < kSize; ++i) values[i] = line.at(i, values[i]);
    if constexpr (has_addend(kTail)) {
      add_to_rounded(static_cast<const T*>(norm.addend) + channel + row * channels, values);
    }
#pragma unroll
    for (int i = 0; i < kSize; ++i) {  // -0 becomes 0, what is no number stays
      if (has_relu(kTail) && values[i] <= 0.0f) values[i] = 0.0f;
    }
    Pack<T>::store(output + row * channels, values);
  }
}

struct Training {
  template <typename T, Tail kTail>
  static void launch(const NormCall& call, const NormForward& norm) {
    const Lanes l = lanes_of(call);
    const auto channels = static_cast<int>(call.channels);
    const auto blocks = static_cast<int>(l.blocks.x);
    sum_values<T><<<l.blocks, l.threads, 0, call.stream>>>(static_cast<const T*>(norm.input),
                                                           call.rows, channels, norm.workspace);
    finish_statistics<T><<<finish_blocks(call.channels), kFinishThreads, 0, call.stream>>>(
        norm, call.rows, channels, blocks);
    normalize<T, kTail, Statistics::batch>
        <<<l.blocks, l.threads, 0, call.stream>>>(norm, call.rows, channels);
  }
};

struct Evaluation {
  template <typename T, Tail kTail>
  static void launch(const NormCall& call, const NormForward& norm) {
    const Lanes l = lanes_of(call);
    normalize<T, kTail, Statistics::running>
        <<<l.blocks, l.threads, 0, call.stream>>>(norm, call.rows, static_cast<int>(call.channels));
  }
};

template <typename Pass, typename T>
void launch(const NormCall& call, const NormForward& norm) {
  if (call.has_addend) {
    call.has_relu ? Pass::template launch<T, Tail::sum_relu>(call, norm)
                  : Pass::template launch<T, Tail::sum>(call, norm);
  } else {
    call.has_relu ? Pass::template launch<T, Tail::relu>(call, norm)
                  : Pass::template launch<T, Tail::none>(call, norm);
  }
}

template <typename Pass>
const char* launch(const NormCall& call, const NormForward& norm) {
  cudaSetDevice(call.device);
  call.type == ImageType::f32 ? launch<Pass, float>(call, norm)
                              : launch<Pass, __nv_bfloat16>(call, norm);
  return launch_error();
}

}  // namespace

std::int64_t norm_workspace(const NormCall& call) {
  return 2 * call.channels * (static_cast<std::int64_t>(lanes_of(call).blocks.x) + 1);
}

const char* launch_norm(const NormCall& call, const NormForward& norm) {
  return launch<Training>(call, norm);
}

const char* launch_evaluated_norm(const NormCall& call, const NormForward& norm) {
  return launch<Evaluation>(call, norm);
}

}  // namespace winnow
