#include "runtime/plan/layout.h"

#include <doctest/doctest.h>

#include "tests/throws.h"

namespace winnow {

TEST_CASE("values of every rank have four extents") {
  CHECK(extents_of({2, 3}) == Extents{2, 3, 1, 1});
  CHECK(extents_of({2, 3, 5}) == Extents{2, 3, 1, 5});
  CHECK(extents_of({2, 3, 5, 7}) == Extents{2, 3, 5, 7});
  CHECK(extents_of({2, 3, 5, 7}).count() == 210);
}

TEST_CASE("shapes that no backend runs are refused") {
  CHECK(error_of([] { extents_of({3}); }) == ErrorCode::usage);
  CHECK(message_of([] {
          extents_of({1, 2, 3, 4, 5});
        }) == "a value has the shape [1, 2, 3, 4, 5]: expected 2, 3 or 4 dimensions");
  CHECK(message_of([] {
          extents_of({1, std::int64_t{1} << 31});
        }) == "a value has the shape [1, 2147483648]: a size is not in 0 to 2^31 - 1");
  CHECK(message_of([] {
          extents_of({1, 1 << 16, 1 << 15});
        }) == "a sample of [1, 65536, 32768] exceeds 2^31 elements");
}

TEST_CASE("layouts have the field's names") {
  CHECK(to_string(Layout{}) == "nchw");
  CHECK(to_string(Layout::nhwc) == "nhwc");
  CHECK(to_string(Layout::chwn32) == "chwn32");
  CHECK(to_string(Layout{Order::nchwc, 16}) == "nchw16c");
}

}  // namespace winnow
