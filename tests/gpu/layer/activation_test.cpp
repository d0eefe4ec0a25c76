#include "runtime/gpu/layer/activation.h"

#include <doctest/doctest.h>

namespace winnow {

TEST_CASE("packed images lie side by side, in groups that are filled up") {
  const ActivationSize size = activation_size({33, 5});
  const ActivationFormat packed8{.layout = Layout::nchw8}, packed32{.layout = Layout::nchw32};
  CHECK(strides_of(packed32, size).channel == 32);
  CHECK(strides_of(packed32, size).image == 5 * 32);  // between groups
  CHECK(bytes_of(packed32, size) == 2 * 5 * 32 * 4);
  CHECK(bytes_of(packed8, size) == 5 * 5 * 8 * 4);
  CHECK(to_string(packed32) == "nchw32 f32");
}

TEST_CASE("only formats with the same bytes are the same memory") {
  const ActivationSize point = activation_size({4, 5}), plane = activation_size({4, 5, 2, 2});
  const ActivationFormat nchw{.layout = Layout::nchw}, nhwc{.layout = Layout::nhwc};
  const ActivationFormat packed{.layout = Layout::nchw32}, deferred{.layout = Layout::deferred};
  CHECK(is_same_memory(nchw, nhwc, point));
  CHECK_FALSE(is_same_memory(nchw, nhwc, plane));
  CHECK_FALSE(is_same_memory(nchw, packed, point));
  CHECK_FALSE(is_same_memory(nchw, deferred, point));
  CHECK(is_same_memory(deferred, deferred, point));
  CHECK(bytes_of(deferred, point) == 0);
}

}  // namespace winnow
