#include "runtime/bench/rivals/columns.h"

#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <algorithm>

#include "runtime/base/error.h"

namespace winnow {
namespace {

constexpr int kThreads = 256;
constexpr std::int64_t kMostBlocks = 1 << 20;
constexpr int kChunkBytes = 16;

int blocks_for(std::int64_t count) {
  return static_cast<int>(
      std::clamp<std::int64_t>((count + kThreads - 1) / kThreads, 1, kMostBlocks));
}

// ---------------------------------------------------------------------------------- device

// Plain numbers of a ColumnShape.
struct Sizes {
  std::int64_t count;  // of elements or chunks to write
  std::int64_t pixels;
  int channels;  // by pixel: chunks of 16 bytes
  int in_h, in_w, out_h, out_w;
  int kernel_h, kernel_w, stride_h, stride_w, padding_h, padding_w, dilation_h, dilation_w;
};

struct Place {
  std::int64_t image;
  int y, x;
  bool is_inside;
};

__device__ Place place_of(const Sizes& z, std::int64_t pixel, int r, int s) {
  const int out_x = static_cast<int>(pixel % z.out_w);
  const int out_y = static_cast<int>(pixel / z.out_w % z.out_h);
  const int y = out_y * z.stride_h - z.padding_h + r * z.dilation_h;
  const int x = out_x * z.stride_w - z.padding_w + s * z.dilation_w;
  return {pixel / z.out_w / z.out_h, y, x, y >= 0 && y < z.in_h && x >= 0 && x < z.in_w};
}

__global__ void __launch_bounds__(kThreads)
    by_pixel_kernel(Sizes z, const uint4* __restrict__ in, uint4* __restrict__ columns) {
  const std::int64_t step = std::int64_t{gridDim.x} * kThreads;
  for (std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x; i < z.count; i += step) {
    const std::int64_t position = i / z.channels;
    const int c = static_cast<int>(i % z.channels);
    const int s = static_cast<int>(position % z.kernel_w);
    const int r = static_cast<int>(position / z.kernel_w % z.kernel_h);
    const Place p = place_of(z, position / z.kernel_w / z.kernel_h, r, s);
    const std::int64_t from = ((p.image * z.in_h + p.y) * z.in_w + p.x) * z.channels + c;
    columns[i] = p.is_inside ? in[from] : uint4{0, 0, 0, 0};
  }
}

__global__ void __launch_bounds__(kThreads)
    by_column_kernel(Sizes z, const __half* __restrict__ in, __half* __restrict__ columns) {
  const std::int64_t step = std::int64_t{gridDim.x} * kThreads;
  for (std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x; i < z.count; i += step) {
    const std::int64_t column = i / z.pixels;
    const int s = static_cast<int>(column % z.kernel_w);
    const int r = static_cast<int>(column / z.kernel_w % z.kernel_h);
    const std::int64_t c = column / z.kernel_w / z.kernel_h;
    const Place p = place_of(z, i % z.pixels, r, s);
    const std::int64_t from = ((p.image * z.channels + c) * z.in_h + p.y) * z.in_w + p.x;
    columns[i] = p.is_inside ? in[from] : __float2half(0.0f);
  }
}

__global__ void __launch_bounds__(kThreads)
    transpose_kernel(const __half* in, std::int64_t rows, std::int64_t columns, __half* out) {
  const std::int64_t step = std::int64_t{gridDim.x} * kThreads;
  for (std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x; i < rows * columns;
       i += step) {
    out[i % columns * rows + i / columns] = in[i];
  }
}

__device__ void store_narrow(__half value, __nv_fp8_e4m3* out) {
  *out = __nv_fp8_e4m3(value);
}
__device__ void store_narrow(__half value, std::int8_t* out) {
  const float scaled = rintf(127.0f * __half2float(value));
  *out = static_cast<std::int8_t>(fminf(fmaxf(scaled, -127.0f), 127.0f));
}

template <typename T>
__global__ void __launch_bounds__(kThreads)
    narrow_kernel(const __half* in, std::int64_t count, T* out) {
  const std::int64_t step = std::int64_t{gridDim.x} * kThreads;
  for (std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x; i < count; i += step) {
    store_narrow(in[i], out + i);
  }
}

__global__ void __launch_bounds__(kThreads)
    widen_kernel(const std::int8_t* in, std::int64_t count, float scale, __half* out) {
  const std::int64_t step = std::int64_t{gridDim.x} * kThreads;
  for (std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x; i < count; i += step) {
    out[i] = __float2half(scale * static_cast<float>(in[i]));
  }
}

}  // namespace

// ------------------------------------------------------------------------------------ host

namespace {

Sizes sizes_of(const ColumnShape& shape, std::int64_t channels, std::int64_t count) {
  const Conv& conv = shape.conv;
  const auto number = [](std::int64_t value) { return static_cast<int>(value); };
  return {count,
          shape.pixels(),
          number(channels),
          number(shape.in.h),
          number(shape.in.w),
          number(shape.out.h),
          number(shape.out.w),
          number(conv.kernel[0]),
          number(conv.kernel[1]),
          number(conv.stride[0]),
          number(conv.stride[1]),
          number(conv.padding[0]),
          number(conv.padding[1]),
          number(conv.dilation[0]),
          number(conv.dilation[1])};
}

}  // namespace

bool is_input(const ColumnShape& shape) {
  const Conv& conv = shape.conv;
  return conv.kernel[0] * conv.kernel[1] == 1 && conv.stride[0] * conv.stride[1] == 1 &&
         conv.padding[0] + conv.padding[1] == 0;
}

void gather_columns(const ColumnShape& shape, ColumnOrder order, int element_bytes, const void* in,
                    void* columns, cudaStream_t stream) {
  const std::int64_t bytes = shape.conv.in_channels * element_bytes;
  if (shape.conv.groups != 1) fail(ErrorCode::usage, "im2col: expected a convolution of 1 group");
  const std::int64_t all = shape.pixels() * shape.columns();
  if (order == ColumnOrder::by_column) {
    if (element_bytes != 2) fail(ErrorCode::usage, "im2col by column: expected half floats");
    by_column_kernel<<<blocks_for(all), kThreads, 0, stream>>>(
        sizes_of(shape, shape.conv.in_channels, all), static_cast<const __half*>(in),
        static_cast<__half*>(columns));
  } else {
    if (bytes % kChunkBytes != 0) {
      fail(ErrorCode::usage, "im2col by pixel: ", shape.conv.in_channels, " channels of ",
           element_bytes, " bytes are no multiple of ", kChunkBytes, " bytes");
    }
    const std::int64_t chunks = all * element_bytes / kChunkBytes;
    by_pixel_kernel<<<blocks_for(chunks), kThreads, 0, stream>>>(
        sizes_of(shape, bytes / kChunkBytes, chunks), static_cast<const uint4*>(in),
        static_cast<uint4*>(columns));
  }
  CUDA_CHECK(cudaGetLastError());
}

void transpose_halves(const void* in, std::int64_t rows, std::int64_t columns, void* out,
                      cudaStream_t stream) {
  transpose_kernel<<<blocks_for(rows * columns), kThreads, 0, stream>>>(
      static_cast<const __half*>(in), rows, columns, static_cast<__half*>(out));
  CUDA_CHECK(cudaGetLastError());
}

void narrow_halves(Narrow type, const void* in, std::int64_t count, void* out,
                   cudaStream_t stream) {
  const auto* halves = static_cast<const __half*>(in);
  if (type == Narrow::e4m3) {
    narrow_kernel<<<blocks_for(count), kThreads, 0, stream>>>(halves, count,
                                                              static_cast<__nv_fp8_e4m3*>(out));
  } else {
    narrow_kernel<<<blocks_for(count), kThreads, 0, stream>>>(halves, count,
                                                              static_cast<std::int8_t*>(out));
  }
  CUDA_CHECK(cudaGetLastError());
}

void widen_int8(const void* in, std::int64_t count, float scale, void* out, cudaStream_t stream) {
  widen_kernel<<<blocks_for(count), kThreads, 0, stream>>>(static_cast<const std::int8_t*>(in),
                                                           count, scale, static_cast<__half*>(out));
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace winnow
