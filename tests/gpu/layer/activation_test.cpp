#include "runtime/gpu/layer/activation.h"

#include <doctest/doctest.h>

namespace winnow {

TEST_CASE("packed images lie side by side, in groups that are filled up") {
  const Extents size = extents_of({33, 5});
  const ActivationFormat packed8{.layout = Layout::chwn8}, packed32{.layout = Layout::chwn32};
  CHECK(strides_of(packed32, size).channel == 32);
  CHECK(strides_of(packed32, size).image == 5 * 32);  // between groups
  CHECK(bytes_of(packed32, size) == 2 * 5 * 32 * 4);
  CHECK(bytes_of(packed8, size) == 5 * 5 * 8 * 4);
  CHECK(to_string(packed32) == "chwn32 f32");
}

TEST_CASE("only formats with the same bytes are the same memory") {
  const Extents point = extents_of({4, 5}), plane = extents_of({4, 5, 2, 2});
  const ActivationFormat nchw{.layout = Layout::nchw}, nhwc{.layout = Layout::nhwc};
  const ActivationFormat packed{.layout = Layout::chwn32}, deferred{.is_deferred = true};
  CHECK(is_same_memory(nchw, nhwc, point));
  CHECK_FALSE(is_same_memory(nchw, nhwc, plane));
  CHECK_FALSE(is_same_memory(nchw, packed, point));
  CHECK_FALSE(is_same_memory(nchw, deferred, point));
  CHECK(is_same_memory(deferred, deferred, point));
  CHECK(bytes_of(deferred, point) == 0);
  CHECK(bytes_of(deferred_from(nhwc), plane) == 0);
  CHECK_FALSE(is_same_memory(nhwc, deferred_from(nhwc), plane));
}

TEST_CASE("a deferred format tells how its source lies where there are several ways") {
  const ActivationFormat padded{
      .layout = Layout::nhwc, .precision = Precision::f16, .channel_padding = 3};
  CHECK(to_string(kDeferred) == "deferred f32");
  CHECK(to_string(deferred_from(padded)) == "deferred from nhwc padded 3 f16");
  CHECK(source_of(deferred_from(padded)) == padded);
  CHECK(deferred_from(row_major(Precision::f32)) != kDeferred);
}

}  // namespace winnow
