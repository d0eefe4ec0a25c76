#include "runtime/cpu/pool_planes.h"

#include <algorithm>
#include <array>
#include <limits>

namespace winnow {
namespace {

// The part of a window that lies inside the input.
struct Window {
  std::int64_t top, bottom, left, right;
};

Window window_at(const PlanePooling& p, std::int64_t y, std::int64_t x) {
  const std::int64_t kernel_h = p.op.rank == 1 ? 1 : p.op.kernel[0];
  const std::int64_t top = p.op.rank == 1 ? 0 : y * p.op.stride[0] - p.op.padding[0];
  const std::int64_t left = x * p.op.stride[1] - p.op.padding[1];
  return {std::max<std::int64_t>(top, 0), std::min(top + kernel_h, p.in.h),
          std::max<std::int64_t>(left, 0), std::min(left + p.op.kernel[1], p.in.w)};
}

// Whether a row of outputs reads what is not a number. Such rows are rare, and a maximum that keeps
// it takes several instructions instead of one.
bool has_nan(const PlanePooling& p, const float* plane, std::int64_t y) {
  const Window window = window_at(p, y, 0);
  const float* from = plane + window.top * p.in.w * p.in.lanes;
  const std::int64_t count = (window.bottom - window.top) * p.in.w * p.in.lanes;
  int found = 0;
  for (std::int64_t i = 0; i < count; ++i) found |= static_cast<int>(from[i] != from[i]);
  return found != 0;
}

struct Larger {
  float operator()(float a, float b) const { return a < b ? b : a; }
};
struct LargerOrNan {
  float operator()(float a, float b) const { return a < b || b != b ? b : a; }
};

// Lanes in blocks that stay in registers over the window.
constexpr std::int64_t kBlock = 16;

template <typename Take>
void pool_lanes(const PlanePooling& p, const Window& window, const float* plane, std::int64_t lanes,
                std::array<float, kBlock>& sum, Take take) {
  for (std::int64_t y = window.top; y < window.bottom; ++y) {
    for (std::int64_t x = window.left; x < window.right; ++x) {
      const float* from = plane + (y * p.in.w + x) * p.in.lanes;
      if (lanes == kBlock) {  // a known length becomes vectors
        for (std::int64_t l = 0; l < kBlock; ++l) sum[l] = take(sum[l], from[l]);
      } else {
        for (std::int64_t l = 0; l < lanes; ++l) sum[l] = take(sum[l], from[l]);
      }
    }
  }
}

template <typename Max>
void pool_point(const PlanePooling& p, const Window& window, const float* plane, float* to) {
  const std::int64_t area = (p.op.rank == 1 ? 1 : p.op.kernel[0]) * p.op.kernel[1];
  for (std::int64_t first = 0; first < p.in.lanes; first += kBlock) {
    const std::int64_t lanes = std::min(kBlock, p.in.lanes - first);
    std::array<float, kBlock> sum{};
    if (p.op.kind == PoolKind::max) {
      sum.fill(-std::numeric_limits<float>::infinity());
      pool_lanes(p, window, plane + first, lanes, sum, Max());
    } else {
      sum.fill(0.0f);
      pool_lanes(p, window, plane + first, lanes, sum, [](float a, float b) { return a + b; });
      for (float& x : sum) x /= static_cast<float>(area);
    }
    std::copy_n(sum.begin(), lanes, to + first);
  }
}

// One lane: rows of windows without padding, the common case of few images.
template <typename Max>
void pool_inner_row(const PlanePooling& p, const float* corner, float* to) {
  const std::int64_t kernel_h = p.op.rank == 1 ? 1 : p.op.kernel[0];
  const std::int64_t step = p.op.stride[1], kernel_w = p.op.kernel[1], width = p.out.w;
  const bool is_max = p.op.kind == PoolKind::max;
  for (std::int64_t x = 0; x < width; ++x) to[x] = is_max ? corner[x * step] : 0.0f;
  for (std::int64_t r = 0; r < kernel_h; ++r) {
    for (std::int64_t s = 0; s < kernel_w; ++s) {
      const float* from = corner + r * p.in.w + s;
      for (std::int64_t x = 0; x < width; ++x) {
        const float value = from[x * step];
        to[x] = is_max ? Max()(to[x], value) : to[x] + value;
      }
    }
  }
  if (is_max) return;
  const auto area = static_cast<float>(kernel_h * kernel_w);
  for (std::int64_t x = 0; x < width; ++x) to[x] /= area;
}

template <typename Max>
void pool_row(const PlanePooling& p, const float* plane, std::int64_t y, float* to) {
  const bool has_padding = p.op.padding[1] != 0 || (p.op.rank == 2 && p.op.padding[0] != 0);
  if (p.in.lanes == 1 && !has_padding) {
    const std::int64_t step = p.op.rank == 1 ? 1 : p.op.stride[0];
    pool_inner_row<Max>(p, plane + y * step * p.in.w, to);
    return;
  }
  for (std::int64_t x = 0; x < p.out.w; ++x) {
    pool_point<Max>(p, window_at(p, y, x), plane, to + x * p.out.lanes);
  }
}

}  // namespace

void pool_planes(const PlanePooling& p, const float* in, float* out, ThreadPool& pool) {
  const std::int64_t row_floats = p.in.plane_floats() / std::max<std::int64_t>(p.out.h, 1);
  pool.run_ranges(p.out.planes * p.out.h, row_floats, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      const float* plane = in + row / p.out.h * p.in.stride;
      const std::int64_t y = row % p.out.h;
      float* to = out + row / p.out.h * p.out.stride + y * p.out.w * p.out.lanes;
      const bool keeps_nan = p.op.kind == PoolKind::max && has_nan(p, plane, y);
      keeps_nan ? pool_row<LargerOrNan>(p, plane, y, to) : pool_row<Larger>(p, plane, y, to);
    }
  });
}

}  // namespace winnow
