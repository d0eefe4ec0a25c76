// Window pooling: one thread per output, or per eight outputs where the layout has octets. Global
// pooling: one warp per plane where a plane is a run of memory (nchw), else one thread per channel
// and image, so that neighbours read neighbours.
#include "runtime/gpu/pointwise/pool.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "runtime/device/overlapping_launch.h"
#include "runtime/gpu/layer/octet_grid.cuh"
#include "runtime/model/pool_axis.h"

namespace winnow {
namespace {

constexpr int kWarp = 32;
constexpr int kWarpsPerBlock = 4;

// ---------------------------------------------------------------------------------- device

struct PoolWindow {
  int kernel_h, kernel_w, stride_h, stride_w, pad_h, pad_w, height, width;
  int end_h, end_w;  // padding behind the last row and column
  bool is_max, counts_padding;
};

__device__ __forceinline__ float merge(bool is_max, float a, float b) {
  // A NaN wins, as in the reference.
  if (is_max) return (b > a || b != b) ? b : a;
  return a + b;
}

// The window of an output begins within the plane or in its padding.
struct WindowBounds {
  int y, y_end, x, x_end;
};
__device__ __forceinline__ WindowBounds bounds(const PoolWindow& w, const Coordinates& at) {
  const int y = static_cast<int>(at.y) * w.stride_h - w.pad_h;
  const int x = static_cast<int>(at.x) * w.stride_w - w.pad_w;
  return {max(y, 0), min(y + w.kernel_h, w.height), max(x, 0), min(x + w.kernel_w, w.width)};
}

// What an average is divided by: PoolAxis::counted of both axes.
__device__ __forceinline__ float divisor(const PoolWindow& w, const Coordinates& at,
                                         const WindowBounds& b) {
  if (!w.counts_padding) return static_cast<float>(std::int64_t{b.y_end - b.y} * (b.x_end - b.x));
  const int y = static_cast<int>(at.y) * w.stride_h - w.pad_h;
  const int x = static_cast<int>(at.x) * w.stride_w - w.pad_w;
  const int rows = min(y + w.kernel_h, w.height + w.end_h) - y;
  const int columns = min(x + w.kernel_w, w.width + w.end_w) - x;
  return static_cast<float>(std::int64_t{rows} * columns);
}

template <typename T>
__device__ float pool_window(const DeviceView<const T>& in, const PoolWindow& w,
                             const Coordinates& at) {
  const WindowBounds b = bounds(w, at);
  float result = w.is_max ? -INFINITY : 0.0f;
  for (int y = b.y; y < b.y_end; ++y) {
    for (int x = b.x; x < b.x_end; ++x) {
      result = merge(w.is_max, result, widen(in.origin[in.offset(at.n, at.c, y, x)]));
    }
  }
  return w.is_max ? result : result / divisor(w, at, b);
}

template <typename T>
__global__ void __launch_bounds__(kElementThreads)
    pool_kernel(DeviceView<const T> in, DeviceView<T> out, PoolWindow window, Unraveler order) {
  for_each_element(order, [&](const Coordinates& at) {
    out.origin[out.offset(at.n, at.c, at.y, at.x)] = narrow<T>(pool_window(in, window, at));
  });
}

__device__ __forceinline__ void merge(bool is_max, Octet& sum, const Octet& other) {
#pragma unroll
  for (int i = 0; i < kOctet; ++i) sum.lane[i] = merge(is_max, sum.lane[i], other.lane[i]);
}

__device__ __forceinline__ Octet filled(float value) {
  Octet octet;
#pragma unroll
  for (int i = 0; i < kOctet; ++i) octet.lane[i] = value;
  return octet;
}

// kSide > 0: the window is kSide x kSide, so that its loads are in flight together.
template <typename T, int kSide>
__device__ Octet pool_octet(const DeviceView<const T>& in, const PoolWindow& w,
                            const Coordinates& at, int count, bool is_aligned) {
  const WindowBounds b = bounds(w, at);
  Octet result = filled(w.is_max ? -INFINITY : 0.0f);
  const auto load = [&](int y, int x) {
    return load_octet(in.origin + in.offset(at.n, at.c, y, x), count, is_aligned);
  };
  if constexpr (kSide > 0) {
    const int y0 = static_cast<int>(at.y) * w.stride_h - w.pad_h;
    const int x0 = static_cast<int>(at.x) * w.stride_w - w.pad_w;
#pragma unroll
    for (int i = 0; i < kSide * kSide; ++i) {
      const int y = y0 + i / kSide, x = x0 + i % kSide;
      if (y >= b.y && y < b.y_end && x >= b.x && x < b.x_end) merge(w.is_max, result, load(y, x));
    }
  } else {
    for (int y = b.y; y < b.y_end; ++y) {
      for (int x = b.x; x < b.x_end; ++x) merge(w.is_max, result, load(y, x));
    }
  }
  if (w.is_max) return result;
  const float counted = divisor(w, at, b);
#pragma unroll
  for (int i = 0; i < kOctet; ++i) result.lane[i] /= counted;
  return result;
}

// The maximum of half floats, with all loads in flight together. A pixel beyond the plane counts as
// the nearest one of the plane, which is in the window too: every window has pixels of the plane.
template <int kSide>
__device__ uint4 largest_octet(const DeviceView<const __half>& in, const PoolWindow& w,
                               const Coordinates& at) {
  const __half* const plane = in.origin + in.offset(at.n, at.c, 0, 0);
  const int y0 = static_cast<int>(at.y) * w.stride_h - w.pad_h;
  const int x0 = static_cast<int>(at.x) * w.stride_w - w.pad_w;
  uint4 values[kSide * kSide];
#pragma unroll
  for (int i = 0; i < kSide * kSide; ++i) {
    const std::int64_t y = min(max(y0 + i / kSide, 0), w.height - 1);
    const std::int64_t x = min(max(x0 + i % kSide, 0), w.width - 1);
    values[i] = *reinterpret_cast<const uint4*>(plane + y * in.row + x * in.column);
  }
#pragma unroll
  for (int i = 1; i < kSide * kSide; ++i) {
    auto* const largest = reinterpret_cast<__half2*>(&values[0]);
    const auto* const other = reinterpret_cast<const __half2*>(&values[i]);
#pragma unroll
    for (int k = 0; k < 4; ++k) largest[k] = __hmax2_nan(largest[k], other[k]);
  }
  return values[0];
}

template <int kSide>
__global__ void __launch_bounds__(kElementThreads)
    max_octets_kernel(DeviceView<const __half> in, DeviceView<__half> out, PoolWindow window,
                      OctetGrid grid) {
  for_each_octet(grid, [&](const Coordinates& at, int count) {
    __half* const to = out.origin + out.offset(at.n, at.c, at.y, at.x);
    if (count >= kOctet) {
      *reinterpret_cast<uint4*>(to) = largest_octet<kSide>(in, window, at);
    } else {
      store_octet(to, pool_octet<__half, kSide>(in, window, at, count, true), count, true);
    }
  });
}

template <typename T, int kSide>
__global__ void __launch_bounds__(kElementThreads)
    pool_octets_kernel(DeviceView<const T> in, DeviceView<T> out, PoolWindow window, OctetGrid grid,
                       bool is_aligned) {
  for_each_octet(grid, [&](const Coordinates& at, int count) {
    const Octet octet = pool_octet<T, kSide>(in, window, at, count, is_aligned);
    store_octet(out.origin + out.offset(at.n, at.c, at.y, at.x), octet, count, is_aligned);
  });
}

// Global pooling reuses PoolWindow: height and width of the plane, is_max.
template <typename T>
__global__ void __launch_bounds__(kWarp* kWarpsPerBlock)
    plane_kernel(DeviceView<const T> in, DeviceView<T> out, PoolWindow plane, Unraveler order) {
  begin_next_launch();
  wait_for_launch_before();
  const std::uint32_t c = blockIdx.x * kWarpsPerBlock + threadIdx.x / kWarp;
  if (c >= order.per_group) return;
  const int lane = threadIdx.x % kWarp;
  const int positions = plane.height * plane.width;
  for (std::uint32_t n = blockIdx.y; n < order.images; n += gridDim.y) {
    float result = plane.is_max ? -INFINITY : 0.0f;
    for (int p = lane; p < positions; p += kWarp) {
      const std::int64_t at = in.offset(n, c, p / plane.width, p % plane.width);
      result = merge(plane.is_max, result, widen(in.origin[at]));
    }
    for (int step = kWarp / 2; step > 0; step /= 2) {
      result = merge(plane.is_max, result, __shfl_xor_sync(0xffffffffu, result, step));
    }
    if (!plane.is_max) result /= static_cast<float>(positions);
    if (lane == 0) out.origin[out.offset(n, c, 0, 0)] = narrow<T>(result);
  }
}

template <typename T>
__global__ void __launch_bounds__(kElementThreads)
    channel_kernel(DeviceView<const T> in, DeviceView<T> out, PoolWindow plane, Unraveler order) {
  for_each_element(order, [&](const Coordinates& at) {
    float result = plane.is_max ? -INFINITY : 0.0f;
    for (int y = 0; y < plane.height; ++y) {
      for (int x = 0; x < plane.width; ++x) {
        result = merge(plane.is_max, result, widen(in.origin[in.offset(at.n, at.c, y, x)]));
      }
    }
    if (!plane.is_max) result /= static_cast<float>(plane.height * plane.width);
    out.origin[out.offset(at.n, at.c, 0, 0)] = narrow<T>(result);
  });
}

// ------------------------------------------------------------------------------------ host

void require_equal(const char* who, const ActivationView& out, const Extents& expected,
                   Precision precision) {
  if (out.size != expected || out.format.precision != precision) {
    fail(ErrorCode::usage, who, ": the output's size or element type does not fit the input");
  }
}

template <typename T>
void launch_pool(ActivationView in, ActivationView out, const PoolWindow& window,
                 cudaStream_t stream) {
  if (in.format.order == out.format.order) {  // then each channel is pooled where it lies
    in = as_placed(in);
    out = as_placed(out);
  }
  const auto source = device_view<const T>(in);
  const auto target = device_view<T>(out);
  const bool has_both =
      has_octets(in.format.layout) && in.format.layout.order == out.format.layout.order;
  if (!has_both) {
    const Unraveler order(out.format.layout, out.size);
    launch_overlapping(pool_kernel<T>, {element_grid(order), kElementThreads}, true, stream, source,
                       target, window, order);
    return;
  }
  const OctetGrid grid(out.format.layout, out.size);
  const LaunchSize size{.blocks = element_grid(grid.order), .threads = kElementThreads};
  const bool is_aligned = has_aligned_octets(in) && has_aligned_octets(out);
  const bool is_square = window.kernel_h == window.kernel_w;
  const int side =
      is_square && (window.kernel_h == 2 || window.kernel_h == 3) ? window.kernel_h : 0;
  if constexpr (std::is_same_v<T, __half>) {
    if (window.is_max && is_aligned && side > 0 && std::max(window.pad_h, window.pad_w) < side) {
      launch_overlapping(side == 2 ? max_octets_kernel<2> : max_octets_kernel<3>, size, true,
                         stream, source, target, window, grid);
      return;
    }
  }
  auto kernel = pool_octets_kernel<T, 0>;
  if (side == 2) kernel = pool_octets_kernel<T, 2>;
  if (side == 3) kernel = pool_octets_kernel<T, 3>;
  launch_overlapping(kernel, size, true, stream, source, target, window, grid, is_aligned);
}

}  // namespace

void pool(const Pool& op, const ActivationView& in, const ActivationView& out,
          cudaStream_t stream) {
  Extents expected = in.size;
  const PoolAxis rows = pool_axis(op, 0, in.size.h), columns = pool_axis(op, 1, in.size.w);
  expected.h = rows.positions();
  expected.w = columns.positions();
  require_equal("pool", out, expected, in.format.precision);
  if (element_count({out.size.n, out.size.c, out.size.h, out.size.w}) == 0) {
    return;
  }
  const PoolWindow window{.kernel_h = static_cast<int>(op.kernel[0]),
                          .kernel_w = static_cast<int>(op.kernel[1]),
                          .stride_h = static_cast<int>(op.stride[0]),
                          .stride_w = static_cast<int>(op.stride[1]),
                          .pad_h = static_cast<int>(op.padding[0]),
                          .pad_w = static_cast<int>(op.padding[1]),
                          .height = static_cast<int>(in.size.h),
                          .width = static_cast<int>(in.size.w),
                          .end_h = static_cast<int>(rows.end),
                          .end_w = static_cast<int>(columns.end),
                          .is_max = op.kind == PoolKind::max,
                          .counts_padding = op.counts_padding};
  with_element(in.format.precision,
               [&](auto element) { launch_pool<decltype(element)>(in, out, window, stream); });
}

void global_pool(const GlobalPool& op, const ActivationView& in, const ActivationView& out,
                 cudaStream_t stream) {
  Extents expected = in.size;
  expected.h = expected.w = 1;
  require_equal("global_pool", out, expected, in.format.precision);
  if (element_count({in.size.n, in.size.c, in.size.h, in.size.w}) == 0) return;

  PoolWindow plane{};
  plane.height = static_cast<int>(in.size.h);
  plane.width = static_cast<int>(in.size.w);
  plane.is_max = op.kind == PoolKind::max;
  const bool is_plane_a_run = in.format.layout == Layout::nchw;
  const Unraveler order(is_plane_a_run ? Layout::nchw : in.format.layout, out.size);
  with_element(in.format.precision, [&](auto element) {
    using T = decltype(element);
    const auto source = device_view<const T>(in);
    const auto target = device_view<T>(out);
    if (is_plane_a_run) {
      dim3 grid = element_grid(order);
      grid.x = (order.per_group + kWarpsPerBlock - 1) / kWarpsPerBlock;
      launch_overlapping(plane_kernel<T>, {grid, kWarp * kWarpsPerBlock}, true, stream, source,
                         target, plane, order);
    } else {
      launch_overlapping(channel_kernel<T>, {element_grid(order), kElementThreads}, true, stream,
                         source, target, plane, order);
    }
  });
}

}  // namespace winnow
