#include "prune/training/cuda/input_kernels.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "prune/training/cuda/launch_error.h"

namespace winnow {
namespace {

constexpr int kThreads = 256;

// Where a pixel of the input comes from, and what its value is multiplied by: 0 if it is blank.
struct Source {
  std::int64_t row, column;
  float factor = 1.0f;
};

__device__ std::int64_t clamped(std::int64_t place, std::int64_t size) {
  return place < 0 ? 0 : place < size ? place : size - 1;
}

__device__ bool is_within(std::int64_t place, std::int64_t first, std::int64_t size) {
  return place >= first && place < first + size;
}

// The last change is undone first: a column is mirrored, then shifted back.
__device__ Source source_of(const InputCall& call, std::int64_t image, int row, int column) {
  if (call.changes == nullptr) return {row, column};
  const std::int64_t* change = call.changes + image * 5;
  const std::int64_t from_row = row - change[0];
  const std::int64_t from_column = (change[2] != 0 ? call.width - 1 - column : column) - change[1];
  const bool is_inside =
      is_within(from_row, 0, call.height) && is_within(from_column, 0, call.width);
  const bool is_in_hole = call.cutout > 0 && is_within(row, change[3], call.cutout) &&
                          is_within(column, change[4], call.cutout);
  return {clamped(from_row, call.height), clamped(from_column, call.width),
          is_inside && !is_in_hole ? 1.0f : 0.0f};
}

__device__ inline void round_to(float value, float* to) {
  *to = value;
}
__device__ inline void round_to(float value, __nv_bfloat16* to) {
  *to = __float2bfloat16_rn(value);
}
__device__ inline void round_to(float value, __half* to) {
  *to = __float2half_rn(value);
}

// A thread makes all channels of a pixel. What is blank is a value times 0, as in LibTorch's path:
// its zero has the value's sign.
template <typename T>
__global__ void __launch_bounds__(kThreads) make_input(InputCall call, unsigned blocks_per_image) {
  const int pixels = call.height * call.width;
  const std::int64_t image = blockIdx.x / blocks_per_image;
  const int pixel = static_cast<int>(blockIdx.x % blocks_per_image * kThreads + threadIdx.x);
  if (pixel >= pixels) return;
  const Source source = source_of(call, image, pixel / call.width, pixel % call.width);
  const std::int64_t first = image * call.channels * pixels;
  const std::uint8_t* bytes = call.bytes + first + source.row * call.width + source.column;
  T* output = static_cast<T*>(call.output) + first;
  output += call.is_channels_last ? static_cast<std::int64_t>(pixel) * call.channels : pixel;
  const std::int64_t step = call.is_channels_last ? 1 : pixels;
  for (std::int64_t channel = 0; channel < call.channels; ++channel) {
    const float value = call.values[channel * 256 + bytes[channel * pixels]];
    round_to(value * source.factor, output + channel * step);
  }
}

template <typename T>
void launch(const InputCall& call) {
  const auto per_image =
      static_cast<unsigned>((call.height * call.width + kThreads - 1) / kThreads);
  const dim3 blocks(static_cast<unsigned>(call.images) * per_image);
  make_input<T><<<blocks, kThreads, 0, call.stream>>>(call, per_image);
}

}  // namespace

const char* launch_input(const InputCall& call) {
  cudaSetDevice(call.device);
  switch (call.type) {
    case InputType::f32:
      launch<float>(call);
      break;
    case InputType::bf16:
      launch<__nv_bfloat16>(call);
      break;
    case InputType::f16:
      launch<__half>(call);
      break;
  }
  return launch_error();
}

}  // namespace winnow
