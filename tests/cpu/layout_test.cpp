#include "runtime/cpu/layout.h"

#include <doctest/doctest.h>

#include <numeric>
#include <vector>

#include "runtime/base/random.h"
#include "tests/throws.h"

namespace winnow {
namespace {

using Floats = std::vector<float>;

Floats converted(const LayoutConversion& conversion, const Floats& from, ThreadPool& pool) {
  Floats to(static_cast<std::size_t>(planes_of(conversion.to, conversion.extent).count()), -7);
  convert(conversion, from.data(), to.data(), pool);
  return to;
}

TEST_CASE("images lie side by side in their layout, channels in theirs") {
  ThreadPool pool(1);
  const Extents extent{2, 3, 1, 2};  // image 0: channels (0 1) (2 3) (4 5), image 1: 6 .. 11
  Floats nchw(12);
  std::iota(nchw.begin(), nchw.end(), 0.0f);
  CHECK(converted({extent, {}, {Order::chwn, 2}}, nchw, pool) ==
        Floats{0, 6, 1, 7, 2, 8, 3, 9, 4, 10, 5, 11});
  CHECK(converted({extent, {}, Layout::nhwc}, nchw, pool) ==
        Floats{0, 2, 4, 1, 3, 5, 6, 8, 10, 7, 9, 11});
  CHECK(converted({extent, {}, {Order::nchwc, 2}}, nchw, pool) ==
        Floats{0, 2, 1, 3, 4, 0, 5, 0, 6, 8, 7, 9, 10, 0, 11, 0});
}

TEST_CASE("a value survives any chain of layouts") {
  ThreadPool pool(3);
  Random random(5);
  const Layout layouts[] = {{},
                            {Order::chwn, 4},
                            {Order::chwn, 8},
                            {Order::chwn, 16},
                            {Order::nchwc, 8},
                            {Order::nchwc, 16},
                            Layout::nhwc,
                            {Order::nchw, 1, true},
                            {Order::chwn, 16, true}};
  for (int i = 0; i < 60; ++i) {
    const Extents extent{random.between(1, 35), random.between(1, 40), random.between(1, 9),
                         random.between(1, 20)};
    Floats nchw(static_cast<std::size_t>(extent.count()));
    std::iota(nchw.begin(), nchw.end(), 1.0f);
    const Layout& a = layouts[random.below(std::size(layouts))];
    const Layout& b = layouts[random.below(std::size(layouts))];
    CAPTURE(to_string(a));
    CAPTURE(to_string(b));
    const Floats there = converted({extent, {}, a}, nchw, pool);
    const std::int64_t element = random.between(0, extent.count() - 1), plane = extent.h * extent.w;
    const std::int64_t place = place_of(a, extent, element / plane / extent.c,
                                        element / plane % extent.c, element % plane);
    CHECK(there[static_cast<std::size_t>(place)] == nchw[static_cast<std::size_t>(element)]);
    const Floats onward = converted({extent, a, b}, there, pool);
    CHECK(converted({extent, b, {}}, onward, pool) == nchw);
  }
}

TEST_CASE("planes of the images layout do not begin in one set of the cache") {
  CHECK(image_plane_stride(2, 2) == 4);
  for (const std::int64_t side : {8, 16, 32, 33, 224}) {
    CHECK(image_plane_stride(side, side) >= side * side);
    CHECK(image_plane_stride(side, side) < side * side + 64);
    CHECK(image_plane_stride(side, side) % 64 == 11);
  }
}

TEST_CASE("layouts that are the same in memory have one name") {
  CHECK(simplest(Layout::nhwc, {2, 8, 1, 1}) == Layout{});
  CHECK(simplest(Layout::nhwc, {2, 1, 3, 3}) == Layout{});
  CHECK(simplest({Order::nchwc, 8}, {2, 16, 1, 1}) == Layout{});
  CHECK(simplest({Order::nchwc, 8}, {2, 15, 1, 1}) == Layout{Order::nchwc, 8});
  CHECK(simplest({Order::chwn, 8}, {2, 16, 1, 1}) == Layout{Order::chwn, 8});
}

}  // namespace
}  // namespace winnow
