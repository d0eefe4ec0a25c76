// How an activation lies in memory, and its conversion.
//
// Every layout is `planes` x `h` x `w` x `lanes`, row-major, `stride` floats from plane to plane;
// they differ in what a plane and a lane stand for.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/base/thread_pool.h"
#include "runtime/model/shape.h"

namespace winnow {

// A value's sizes whatever its rank: [N, F] has a plane of 1 x 1, [N, C, L] one of 1 x L.
struct Extent {
  std::int64_t n = 1, c = 1, h = 1, w = 1;

  std::int64_t count() const { return n * c * h * w; }
  friend bool operator==(const Extent&, const Extent&) = default;
};

// Throws Error{usage} for ranks other than 2, 3 and 4, and for more than 2^31 elements a sample.
Extent extent_of(const Shape& shape);

enum class Order {
  planar,    // [N][C][H][W]: lanes 1
  images,    // [ceil(N / lanes)][C][H][W][lanes images]; beyond the last image no meaning
  channels,  // [N][ceil(C / lanes)][H][W][lanes channels]; beyond the last channel zero
  pixels,    // [N][H][W][C]: lanes C
};

struct Layout {
  Order order = Order::planar;
  std::int64_t lanes = 1;  // of images and channels; 1 for the others

  friend bool operator==(const Layout&, const Layout&) = default;
};

std::string to_string(const Layout& layout);  // "planar", "images16", "channels8", "pixels"

struct Planes {
  std::int64_t planes = 0, h = 1, w = 1, lanes = 1;
  std::int64_t stride = 1;

  std::int64_t plane_floats() const { return h * w * lanes; }
  std::int64_t count() const { return planes * stride; }  // gaps between planes included
};
Planes planes_of(const Layout& layout, const Extent& x);

// Positions from plane to plane of the images layout. Planes of a power of two would all begin in
// the same set of a cache, and a convolution walks from plane to plane.
std::int64_t image_plane_stride(std::int64_t h, std::int64_t w);

// A value whose layout makes no difference gets the simplest: pixels of a 1 x 1 plane or of one
// channel are planar, and so are channels of a 1 x 1 plane that fill their lanes.
Layout simplest(const Layout& layout, const Extent& x);

// Copies a value from one layout to another; lanes beyond the last image or channel become zero.
struct LayoutConversion {
  Extent extent;
  Layout from;
  Layout to;
};
void convert(const LayoutConversion& conversion, const float* from, float* to, ThreadPool& pool);

}  // namespace winnow
