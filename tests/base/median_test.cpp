#include "runtime/base/median.h"

#include <doctest/doctest.h>

namespace winnow {

TEST_CASE("the median is the middle value or the mean of two") {
  CHECK(median({3, 1, 2}) == 2);
  CHECK(median({4, 1, 2, 7}) == 3);
  CHECK(median({5}) == 5);
  CHECK(median({}) == 0);
}

}  // namespace winnow
