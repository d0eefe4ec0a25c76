#include "runtime/cpu/layout.h"

#include <algorithm>
#include <limits>

#include "runtime/base/error.h"

namespace winnow {
namespace {

std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

// Where an element lies: n and c decide the offset of (0, 0), the step is between neighbouring
// positions of the plane.
struct Address {
  std::int64_t offset = 0;
  std::int64_t step = 1;
};

Address address_of(const Layout& layout, const Extent& x, std::int64_t n, std::int64_t c) {
  const std::int64_t plane = x.h * x.w, lanes = layout.lanes;
  switch (layout.order) {
    case Order::planar:
      return {(n * x.c + c) * plane, 1};
    case Order::images:
      return {(n / lanes * x.c + c) * image_plane_stride(x.h, x.w) * lanes + n % lanes, lanes};
    case Order::channels:
      return {(n * ceil_div(x.c, lanes) + c / lanes) * plane * lanes + c % lanes, lanes};
    case Order::pixels:
      return {n * plane * x.c + c, x.c};
  }
  return {};
}

// How far apart the elements of neighbouring images or channels lie.
std::int64_t neighbour_step(const Layout& layout, const Extent& x, bool is_image) {
  const Address first = address_of(layout, x, 0, 0);
  return address_of(layout, x, is_image ? 1 : 0, is_image ? 0 : 1).offset - first.offset;
}

// A block of up to kBlock images or channels by up to kBlock positions, so that the strided side
// stays in the first cache.
constexpr std::int64_t kBlock = 16;

struct Block {
  const float* from;
  float* to;
  std::int64_t lanes, positions;
  std::int64_t from_lane, from_step, to_lane, to_step;
};

void copy_block(const Block& b) {
  if (b.to_lane == 1) {
    for (std::int64_t p = 0; p < b.positions; ++p) {
      for (std::int64_t l = 0; l < b.lanes; ++l) {
        b.to[p * b.to_step + l] = b.from[p * b.from_step + l * b.from_lane];
      }
    }
  } else {
    for (std::int64_t l = 0; l < b.lanes; ++l) {
      for (std::int64_t p = 0; p < b.positions; ++p) {
        b.to[p * b.to_step + l * b.to_lane] = b.from[p * b.from_step + l * b.from_lane];
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
  const bool images = c.from.order == Order::images || c.to.order == Order::images;
  std::int64_t width = kBlock;
  for (const Layout& layout : {c.from, c.to}) {
    const bool counts = layout.order == (images ? Order::images : Order::channels);
    if (counts) width = std::min(width, layout.lanes);
  }
  const Extent& x = c.extent;
  return {images, images ? x.n : x.c, images ? x.c : x.n, width};
}

void convert_lanes(const LayoutConversion& c, const Lanes& lanes, std::int64_t item,
                   const float* from, float* to) {
  const std::int64_t first = item / lanes.others * lanes.width, other = item % lanes.others;
  const std::int64_t n = lanes.are_images ? first : other, k = lanes.are_images ? other : first;
  const Address in = address_of(c.from, c.extent, n, k), out = address_of(c.to, c.extent, n, k);
  const std::int64_t plane = c.extent.h * c.extent.w;
  for (std::int64_t p = 0; p < plane; p += kBlock) {
    copy_block({from + in.offset + p * in.step, to + out.offset + p * out.step,
                std::min(lanes.width, lanes.count - first), std::min(kBlock, plane - p),
                neighbour_step(c.from, c.extent, lanes.are_images), in.step,
                neighbour_step(c.to, c.extent, lanes.are_images), out.step});
  }
}

// Zeroes the last group of lanes where images or channels do not fill it.
void clear_tail(const LayoutConversion& c, float* to) {
  const Extent& x = c.extent;
  const Planes all = planes_of(c.to, x);
  if (all.planes * all.plane_floats() == x.count()) return;
  const bool images = c.to.order == Order::images;
  const std::int64_t groups = ceil_div(x.c, c.to.lanes);
  for (std::int64_t plane = 0; plane < all.planes; ++plane) {
    const bool is_last = images ? plane >= all.planes - x.c : plane % groups == groups - 1;
    if (is_last) std::fill_n(to + plane * all.stride, all.plane_floats(), 0.0f);
  }
}

}  // namespace

Extent extent_of(const Shape& shape) {
  if (shape.size() < 2 || shape.size() > 4) {
    fail(ErrorCode::usage, "the CPU backend runs values of 2 to 4 dimensions, not ",
         to_string(shape));
  }
  Extent extent{shape[0], shape[1], 1, 1};
  if (shape.size() == 3) extent.w = shape[2];
  if (shape.size() == 4) extent.h = shape[2], extent.w = shape[3];
  if (element_count({extent.c, extent.h, extent.w}) > std::numeric_limits<std::int32_t>::max()) {
    fail(ErrorCode::usage, "a sample of ", to_string(shape), " exceeds 2^31 elements");
  }
  return extent;
}

std::string to_string(const Layout& layout) {
  switch (layout.order) {
    case Order::planar:
      return "planar";
    case Order::images:
      return "images" + std::to_string(layout.lanes);
    case Order::channels:
      return "channels" + std::to_string(layout.lanes);
    case Order::pixels:
      return "pixels";
  }
  return "unknown";
}

std::int64_t image_plane_stride(std::int64_t h, std::int64_t w) {
  constexpr std::int64_t kSets = 64, kShift = 11;  // of 64-byte lines; planes side by side in them
  const std::int64_t plane = h * w;
  if (plane < kSets) return plane;
  const std::int64_t rest = (plane + kSets - kShift) % kSets;
  return plane + (kSets - rest) % kSets;  // kShift modulo kSets
}

Planes planes_of(const Layout& layout, const Extent& x) {
  const std::int64_t lanes = layout.lanes, plane = x.h * x.w;
  switch (layout.order) {
    case Order::planar:
      return {x.n * x.c, x.h, x.w, 1, plane};
    case Order::images:
      return {ceil_div(x.n, lanes) * x.c, x.h, x.w, lanes, image_plane_stride(x.h, x.w) * lanes};
    case Order::channels:
      return {x.n * ceil_div(x.c, lanes), x.h, x.w, lanes, plane * lanes};
    case Order::pixels:
      return {x.n, x.h, x.w, x.c, plane * x.c};
  }
  return {};
}

Layout simplest(const Layout& layout, const Extent& x) {
  const bool is_point = x.h * x.w == 1;
  const bool is_planar = (layout.order == Order::pixels && (is_point || x.c == 1)) ||
                         (layout.order == Order::channels && is_point && x.c % layout.lanes == 0);
  return is_planar ? Layout{} : layout;
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
  pool.run_ranges(ceil_div(lanes.count, lanes.width) * lanes.others,
                  lanes.width * conversion.extent.h * conversion.extent.w,
                  [&](std::int64_t begin, std::int64_t end) {
                    for (std::int64_t item = begin; item < end; ++item) {
                      convert_lanes(conversion, lanes, item, from, to);
                    }
                  });
}

}  // namespace winnow
