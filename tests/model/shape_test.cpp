#include "runtime/model/shape.h"

#include <doctest/doctest.h>

#include "tests/throws.h"

namespace winnow {

TEST_CASE("element_count multiplies the dimensions") {
  CHECK(element_count({}) == 1);
  CHECK(element_count({7}) == 7);
  CHECK(element_count({2, 3, 4}) == 24);
  CHECK(element_count({3, 0, 5}) == 0);
}

TEST_CASE("element_count refuses negative sizes and products beyond 64 bits") {
  CHECK(message_of([] { element_count({2, -1}); }) == "shape [2, -1] has a negative dimension");
  CHECK(error_of([] { element_count({0, -1}); }) == ErrorCode::usage);
  const std::int64_t large = std::int64_t{1} << 32;
  CHECK(element_count({large / 2, large / 2, 1}) == std::int64_t{1} << 62);
  CHECK(error_of([&] { element_count({large, large}); }) == ErrorCode::usage);
  CHECK(element_count({large, large, large, 0}) == 0);
}

TEST_CASE("shapes print as lists") {
  CHECK(to_string(Shape{}) == "[]");
  CHECK(to_string(Shape{64, 3, 3}) == "[64, 3, 3]");
}

}  // namespace winnow
