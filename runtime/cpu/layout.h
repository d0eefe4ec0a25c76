// Activations of the CPU backend: their planes in memory, and conversions between layouts.
//
// Every layout is `planes` x `h` x `w` x `lanes`, row-major, `stride` floats from plane to plane,
// the first one `origin` floats from the begin; they differ in what a plane and a lane stand for.
// Lanes of chwn beyond the last image have no meaning; lanes of nchwc beyond the last channel are
// zero.
//
// nchw with gaps has at least a row and one float of zeros around every plane. These are the
// padding above and below for a kernel of 3 x 3, so that a convolution reads its input in place.
#pragma once

#include <cstdint>

#include "runtime/base/thread_pool.h"
#include "runtime/plan/layout.h"

namespace winnow {

struct Planes {
  std::int64_t planes = 0, h = 1, w = 1, lanes = 1;
  std::int64_t stride = 1;
  std::int64_t origin = 0;

  std::int64_t plane_floats() const { return h * w * lanes; }
  std::int64_t count() const { return origin + planes * stride; }  // with all gaps
};
Planes planes_of(const Layout& layout, const Extents& x);

// Floats of a vector that kernels on nchw with gaps read; planes begin at multiples of it.
inline constexpr std::int64_t kGapVector = 16;

// Where element (n, c) of the position'th place of a plane lies, row-major.
std::int64_t place_of(const Layout& layout, const Extents& x, std::int64_t n, std::int64_t c,
                      std::int64_t position);

// Zeroes the gap before the first plane; the gap behind planes begin .. end - 1 of a value.
void clear_first_gap(const Planes& planes, float* value);
void clear_gaps(const Planes& planes, float* value, std::int64_t begin, std::int64_t end);

// Positions from plane to plane of chwn. Planes of a power of two would all begin in
// the same set of a cache, and a convolution walks from plane to plane.
std::int64_t image_plane_stride(std::int64_t h, std::int64_t w);

// A value whose layout makes no difference gets the simplest: nhwc with a 1 x 1 plane or one
// channel is nchw, and so is nchwc with a 1 x 1 plane whose channels fill their blocks. A 1 x 1
// plane has no gaps.
Layout simplest(const Layout& layout, const Extents& x);

// Copies a value from one layout to another; lanes beyond the last image or channel become zero.
struct LayoutConversion {
  Extents extent;
  Layout from;
  Layout to;
};
void convert(const LayoutConversion& conversion, const float* from, float* to, ThreadPool& pool);

}  // namespace winnow
