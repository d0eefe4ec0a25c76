#include "runtime/cpu/layout.h"

#include <algorithm>

#include "runtime/base/divided_up.h"

namespace winnow {
namespace {

// Planes an odd number of cache lines apart, so that equal places of them lie in different sets. A
// vector that begins inside a plane, moved by a row and a position, ends before the next one.
Planes gapped_planes(const Layout& layout, const Extents& x) {
  const std::int64_t lanes = layout.block;
  const std::int64_t plane = x.h * x.w * lanes, least = (x.w + 1) * lanes;
  const std::int64_t gap = divided_up(least, kGapVector);
  const std::int64_t lines = divided_up(plane, kGapVector) + gap;
  return {.planes = divided_up(x.n, lanes) * x.c,
          .h = x.h,
          .w = x.w,
          .lanes = lanes,
          .stride = (lines | 1) * kGapVector,
          .origin = gap * kGapVector};
}

// Where an element lies: n and c decide the offset of (0, 0), the step is between neighbouring
// positions of the plane.
struct Address {
  std::int64_t offset = 0;
  std::int64_t step = 1;
};

Address address_of(const Layout& layout, const Extents& x, std::int64_t n, std::int64_t c) {
  const std::int64_t plane = x.h * x.w, lanes = layout.block;
  switch (layout.order) {
    case Order::nchw: {
      const Planes planes = planes_of(layout, x);
      return {planes.origin + (n * x.c + c) * planes.stride, 1};
    }
    case Order::chwn: {
      const Planes planes = planes_of(layout, x);
      return {planes.origin + (n / lanes * x.c + c) * planes.stride + n % lanes, lanes};
    }
    case Order::nchwc:
      return {(n * divided_up(x.c, lanes) + c / lanes) * plane * lanes + c % lanes, lanes};
    case Order::nchwcn:  // of the GPU only
    case Order::nhwc:
      return {n * plane * x.c + c, x.c};
  }
  return {};
}

// How far apart the elements of neighbouring images or channels lie.
std::int64_t neighbour_step(const Layout& layout, const Extents& x, bool is_image) {
  const Address first = address_of(layout, x, 0, 0);
  return address_of(layout, x, is_image ? 1 : 0, is_image ? 0 : 1).offset - first.offset;
}

// A tile of up to kTile images or channels by up to kTile positions, so that the strided side stays
// in the first cache.
constexpr std::int64_t kTile = 16;

struct CopyTile {
  const float* from;
  float* to;
  std::int64_t lanes, positions;
  std::int64_t from_lane, from_step, to_lane, to_step;
};

void copy(const CopyTile& tile) {
  if (tile.to_lane == 1) {
    for (std::int64_t p = 0; p < tile.positions; ++p) {
      for (std::int64_t l = 0; l < tile.lanes; ++l) {
        tile.to[p * tile.to_step + l] = tile.from[p * tile.from_step + l * tile.from_lane];
      }
    }
  } else {
    for (std::int64_t l = 0; l < tile.lanes; ++l) {
      for (std::int64_t p = 0; p < tile.positions; ++p) {
        tile.to[p * tile.to_step + l * tile.to_lane] =
            tile.from[p * tile.from_step + l * tile.from_lane];
      }
    }
  }
}

// Lanes run over images where either side interleaves them, else over channels.
struct Lanes {
  bool are_images;
  std::int64_t count;   // images or channels
  std::int64_t others;  // the other of the two
  std::int64_t width;   // lanes that are neighbours on both sides
};

Lanes lanes_of(const LayoutConversion& c) {
  const bool images = c.from.order == Order::chwn || c.to.order == Order::chwn;
  std::int64_t width = kTile;
  for (const Layout& layout : {c.from, c.to}) {
    const bool counts = layout.order == (images ? Order::chwn : Order::nchwc);
    if (counts) width = std::min(width, layout.block);
  }
  const Extents& x = c.extent;
  return {images, images ? x.n : x.c, images ? x.c : x.n, width};
}

// Group `index` of neighbouring lanes.
void convert_lanes(const LayoutConversion& c, const Lanes& lanes, std::int64_t index,
                   const float* from, float* to) {
  const std::int64_t first = index / lanes.others * lanes.width, other = index % lanes.others;
  const std::int64_t n = lanes.are_images ? first : other, k = lanes.are_images ? other : first;
  const Address in = address_of(c.from, c.extent, n, k), out = address_of(c.to, c.extent, n, k);
  const std::int64_t plane = c.extent.h * c.extent.w;
  for (std::int64_t p = 0; p < plane; p += kTile) {
    copy({from + in.offset + p * in.step, to + out.offset + p * out.step,
          std::min(lanes.width, lanes.count - first), std::min(kTile, plane - p),
          neighbour_step(c.from, c.extent, lanes.are_images), in.step,
          neighbour_step(c.to, c.extent, lanes.are_images), out.step});
  }
}

// Zeroes the last group of lanes where images or channels do not fill it.
void clear_tail(const LayoutConversion& c, float* to) {
  const Extents& x = c.extent;
  const Planes all = planes_of(c.to, x);
  if (c.to.has_gaps) {
    clear_first_gap(all, to);
    clear_gaps(all, to, 0, all.planes);
    return;
  }
  if (all.planes * all.plane_floats() == x.count()) return;
  const bool images = c.to.order == Order::chwn;
  const std::int64_t groups = divided_up(x.c, c.to.block);
  for (std::int64_t plane = 0; plane < all.planes; ++plane) {
    const bool is_last = images ? plane >= all.planes - x.c : plane % groups == groups - 1;
    if (is_last) std::fill_n(to + plane * all.stride, all.plane_floats(), 0.0f);
  }
}

}  // namespace

std::int64_t image_plane_stride(std::int64_t h, std::int64_t w) {
  constexpr std::int64_t kSets = 64, kShift = 11;  // of 64-byte lines; planes side by side in them
  const std::int64_t plane = h * w;
  if (plane < kSets) return plane;
  const std::int64_t rest = (plane + kSets - kShift) % kSets;
  return plane + (kSets - rest) % kSets;  // kShift modulo kSets
}

std::int64_t place_of(const Layout& layout, const Extents& x, std::int64_t n, std::int64_t c,
                      std::int64_t position) {
  const Address address = address_of(layout, x, n, c);
  return address.offset + position * address.step;
}

void clear_first_gap(const Planes& planes, float* value) {
  std::fill_n(value, planes.origin, 0.0f);
}

void clear_gaps(const Planes& planes, float* value, std::int64_t begin, std::int64_t end) {
  for (std::int64_t plane = begin; plane < end; ++plane) {
    float* gap = value + planes.origin + plane * planes.stride + planes.plane_floats();
    std::fill_n(gap, planes.stride - planes.plane_floats(), 0.0f);
  }
}

Planes planes_of(const Layout& layout, const Extents& x) {
  if (layout.has_gaps) return gapped_planes(layout, x);
  const std::int64_t lanes = layout.block, plane = x.h * x.w;
  switch (layout.order) {
    case Order::nchw:
      return {x.n * x.c, x.h, x.w, 1, plane};
    case Order::chwn:
      return {divided_up(x.n, lanes) * x.c, x.h, x.w, lanes, image_plane_stride(x.h, x.w) * lanes};
    case Order::nchwc:
      return {x.n * divided_up(x.c, lanes), x.h, x.w, lanes, plane * lanes};
    case Order::nchwcn:  // of the GPU only
    case Order::nhwc:
      return {x.n, x.h, x.w, x.c, plane * x.c};
  }
  return {};
}

Layout simplest(const Layout& layout, const Extents& x) {
  const bool is_point = x.h * x.w == 1;
  const bool is_nchw = (layout.order == Order::nhwc && (is_point || x.c == 1)) ||
                       (layout.order == Order::nchwc && is_point && x.c % layout.block == 0);
  if (is_nchw) return {};
  return {layout.order, layout.block, layout.has_gaps && !is_point};
}

void convert(const LayoutConversion& conversion, const float* from, float* to, ThreadPool& pool) {
  if (conversion.from == conversion.to) {
    pool.run_ranges(planes_of(conversion.to, conversion.extent).count(), 1,
                    [&](std::int64_t begin, std::int64_t end) {
                      std::copy(from + begin, from + end, to + begin);
                    });
    return;
  }
  clear_tail(conversion, to);
  const Lanes lanes = lanes_of(conversion);
  pool.run_ranges(divided_up(lanes.count, lanes.width) * lanes.others,
                  lanes.width * conversion.extent.h * conversion.extent.w,
                  [&](std::int64_t begin, std::int64_t end) {
                    for (std::int64_t index = begin; index < end; ++index) {
                      convert_lanes(conversion, lanes, index, from, to);
                    }
                  });
}

}  // namespace winnow
