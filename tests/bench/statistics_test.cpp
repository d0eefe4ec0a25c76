#include "runtime/bench/statistics.h"

#include <doctest/doctest.h>

namespace winnow {
namespace {

TEST_CASE("statistics_of interpolates between neighbouring ranks") {
  const Statistics s = statistics_of({4, 1, 3, 2});
  CHECK(s.count == 4);
  CHECK(s.minimum == 1);
  CHECK(s.p10 == doctest::Approx(1.3));
  CHECK(s.maximum == 4);
  CHECK(s.mean == 2.5);
  CHECK(s.median == 2.5);
  CHECK(s.p90 == doctest::Approx(3.7));
}

TEST_CASE("statistics_of one sample is that sample, of none is zero") {
  CHECK(statistics_of({7}).p90 == 7);
  CHECK(statistics_of({}).median == 0);
  CHECK(statistics_of({}).count == 0);
}

}  // namespace
}  // namespace winnow
