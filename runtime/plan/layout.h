// How activations lie in memory, on the CPU and on the GPU.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/model/shape.h"

namespace winnow {

// A value's sizes whatever its rank: [N, F] has a plane of 1 x 1, [N, C, L] one of 1 x L.
struct Extents {
  std::int64_t n = 1, c = 1, h = 1, w = 1;

  std::int64_t count() const { return n * c * h * w; }
  friend bool operator==(const Extents&, const Extents&) = default;
};

// Throws Error{usage} unless the rank is 2, 3 or 4, every size fits 31 bits and a sample has fewer
// than 2^31 elements.
Extents extents_of(const Shape& shape);

// Dimensions from the outermost to the innermost.
enum class Order {
  nchw,    // [N][C][H][W]
  nhwc,    // [N][H][W][C]
  chwn,    // [ceil(N / block)][C][H][W][block images]
  nchwc,   // [N][ceil(C / block)][H][W][block channels]
  nchwcn,  // [ceil(N / block)][ceil(C / 32)][H][W][32 channels][block images]
};

inline constexpr std::int64_t kBlockedChannels = 32;  // of nchwcn

struct Layout {
  Order order = Order::nchw;
  std::int64_t block = 1;  // of chwn, nchwc and nchwcn; 1 for the others
  bool has_gaps = false;   // nchw and chwn on the CPU: zeros before, between and after the planes

  // NOLINTNEXTLINE(readability-identifier-naming)
  static const Layout nchw, nhwc, chwn8, chwn32, gaps, chwn16_gaps, nchw32c8n;

  friend bool operator==(const Layout&, const Layout&) = default;
};
inline constexpr Layout Layout::nchw{Order::nchw, 1};
inline constexpr Layout Layout::nhwc{Order::nhwc, 1};
inline constexpr Layout Layout::chwn8{Order::chwn, 8};
inline constexpr Layout Layout::chwn32{Order::chwn, 32};
inline constexpr Layout Layout::gaps{Order::nchw, 1, true};
inline constexpr Layout Layout::chwn16_gaps{Order::chwn, 16, true};
inline constexpr Layout Layout::nchw32c8n{Order::nchwcn, 8};

// "nchw", "nchw-gaps", "nhwc", "chwn16", "chwn16-gaps", "nchw8c", "nchw32c8n"
std::string to_string(const Layout& layout);

}  // namespace winnow
