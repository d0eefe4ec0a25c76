#include "runtime/cpu/pool_planes.h"

#include <algorithm>
#include <array>
#include <limits>
#include <type_traits>
#include <vector>

#include "runtime/base/divided_up.h"
#include "runtime/cpu/cpu_features.h"
#include "runtime/cpu/max_rows.h"
#include "runtime/model/pool_axis.h"

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

// What the averages of row y are divided by, without the part of the columns.
std::int64_t counted_rows(const PlanePooling& p, std::int64_t y) {
  return p.op.rank == 1 ? 1 : pool_axis(p.op, 0, p.in.h).counted(y);
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

// The same as LargerOrNan by vectors, where they fit.
struct LargerByVectors : LargerOrNan {};

bool has_vectors(const PlanePooling& p) {
  static const bool has_avx512 = available_isas().back() == Isa::avx512;
  return has_avx512 && p.op.kind == PoolKind::max && p.in.lanes == 1 && p.op.stride[1] == 2;
}

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
void pool_point(const PlanePooling& p, const Window& window, std::int64_t divisor,
                const float* plane, float* to) {
  for (std::int64_t first = 0; first < p.in.lanes; first += kBlock) {
    const std::int64_t lanes = std::min(kBlock, p.in.lanes - first);
    std::array<float, kBlock> sum{};
    if (p.op.kind == PoolKind::max) {
      sum.fill(-std::numeric_limits<float>::infinity());
      pool_lanes(p, window, plane + first, lanes, sum, Max());
    } else {
      sum.fill(0.0f);
      pool_lanes(p, window, plane + first, lanes, sum, [](float a, float b) { return a + b; });
      for (float& x : sum) x /= static_cast<float>(divisor);
    }
    std::copy_n(sum.begin(), lanes, to + first);
  }
}

// Neighbours of a row that lie `kStep` apart; 0 for a step known at run time only.
template <int kStep, typename Take>
void fold_across(const PlanePooling& p, const float* column, const Window& inner, float* to,
                 Take take) {
  const std::int64_t step = kStep == 0 ? p.op.stride[1] : kStep;
  const std::int64_t first = inner.left, count = inner.right - inner.left;
  const float* from = column + first * step - p.op.padding[1];
  if constexpr (std::is_same_v<Take, LargerByVectors>) {
    return max_every_second(from, p.op.kernel[1], count, to + first);
  }
  for (std::int64_t x = 0; x < count; ++x) to[first + x] = from[x * step];
  for (std::int64_t s = 1; s < p.op.kernel[1]; ++s) {
    for (std::int64_t x = 0; x < count; ++x) {
      to[first + x] = take(to[first + x], from[x * step + s]);
    }
  }
}

// One lane: the rows of a window are folded into one, then its columns. `column` has in.w floats.
template <typename Take>
void pool_single_row(const PlanePooling& p, const float* plane, std::int64_t y, float* column,
                     float* to, Take take) {
  const Window rows = window_at(p, y, 0);
  std::copy_n(plane + rows.top * p.in.w, p.in.w, column);
  for (std::int64_t row = rows.top + 1; row < rows.bottom; ++row) {
    const float* from = plane + row * p.in.w;
    if constexpr (std::is_same_v<Take, LargerByVectors>) {
      max_row(from, p.in.w, column);
      continue;
    }
    for (std::int64_t x = 0; x < p.in.w; ++x) column[x] = take(column[x], from[x]);
  }
  const std::int64_t step = p.op.stride[1], pad = p.op.padding[1];
  const std::int64_t left = std::min(divided_up(pad, step), p.out.w);
  const std::int64_t last = p.in.w + pad - p.op.kernel[1];  // where a whole window begins
  const std::int64_t right = std::clamp(last < 0 ? 0 : last / step + 1, left, p.out.w);
  const Window inner{0, 0, left, right};
  if (step == 1) fold_across<1>(p, column, inner, to, take);
  if (step == 2) fold_across<2>(p, column, inner, to, take);
  if (step > 2) fold_across<0>(p, column, inner, to, take);
  for (std::int64_t x = 0; x < p.out.w; ++x) {
    if (x == left) x = right;  // the columns between are done
    if (x >= p.out.w) break;
    const Window window = window_at(p, y, x);
    to[x] = column[window.left];
    for (std::int64_t at = window.left + 1; at < window.right; ++at) {
      to[x] = take(to[x], column[at]);
    }
  }
}

// Whether every window reads at least one position.
bool is_covering(const PlanePooling& p) {
  const Window first = window_at(p, 0, 0), last = window_at(p, p.out.h - 1, p.out.w - 1);
  return first.bottom > first.top && first.right > first.left && last.bottom > last.top &&
         last.right > last.left;
}

template <typename Max>
void pool_row(const PlanePooling& p, const float* plane, std::int64_t y, float* column, float* to) {
  const PoolAxis across = pool_axis(p.op, 1, p.in.w);
  const std::int64_t rows = counted_rows(p, y);
  if (p.in.lanes > 1 || !is_covering(p)) {
    for (std::int64_t x = 0; x < p.out.w; ++x) {
      pool_point<Max>(p, window_at(p, y, x), rows * across.counted(x), plane, to + x * p.out.lanes);
    }
    return;
  }
  if (p.op.kind == PoolKind::max) return pool_single_row(p, plane, y, column, to, Max());
  pool_single_row(p, plane, y, column, to, [](float a, float b) { return a + b; });
  for (std::int64_t x = 0; x < p.out.w; ++x) to[x] /= static_cast<float>(rows * across.counted(x));
}

}  // namespace

void pool_planes(const PlanePooling& p, const float* in, float* out, ThreadPool& pool) {
  clear_first_gap(p.out, out);
  clear_gaps(p.out, out, 0, p.out.stride > p.out.plane_floats() ? p.out.planes : 0);
  const bool by_vectors = has_vectors(p);
  const std::int64_t row_floats = p.in.plane_floats() / std::max<std::int64_t>(p.out.h, 1);
  pool.run_ranges(p.out.planes * p.out.h, row_floats, [&](std::int64_t begin, std::int64_t end) {
    std::vector<float> column(static_cast<std::size_t>(p.in.w));
    for (std::int64_t row = begin; row < end; ++row) {
      const float* plane = in + p.in.origin + row / p.out.h * p.in.stride;
      const std::int64_t y = row % p.out.h;
      float* to = out + p.out.origin + row / p.out.h * p.out.stride + y * p.out.w * p.out.lanes;
      if (by_vectors) {
        pool_row<LargerByVectors>(p, plane, y, column.data(), to);
        continue;
      }
      const bool keeps_nan = p.op.kind == PoolKind::max && has_nan(p, plane, y);
      keeps_nan ? pool_row<LargerOrNan>(p, plane, y, column.data(), to)
                : pool_row<Larger>(p, plane, y, column.data(), to);
    }
  });
}

}  // namespace winnow
