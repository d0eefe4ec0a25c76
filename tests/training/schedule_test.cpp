#include "prune/training/steps/schedule.h"

#include <doctest/doctest.h>

namespace winnow {
namespace {

TEST_CASE("cosine falls from rate to final_rate and is half way in the middle") {
  const RateSchedule schedule{.rate = 0.2, .final_rate = 0.1};
  CHECK(rate_at(schedule, 0, 10) == doctest::Approx(0.2));
  CHECK(rate_at(schedule, 5, 10) == doctest::Approx(0.15));
  CHECK(rate_at(schedule, 10, 10) == doctest::Approx(0.1));
  CHECK(rate_at(schedule, 12, 10) == doctest::Approx(0.1));
}

TEST_CASE("warm-up grows linearly, then the cosine takes the rest of the time") {
  const RateSchedule schedule{.rate = 1.0, .warmup = 2};
  CHECK(rate_at(schedule, 0.5, 10) == doctest::Approx(0.25));
  CHECK(rate_at(schedule, 2, 10) == doctest::Approx(1.0));
  CHECK(rate_at(schedule, 6, 10) == doctest::Approx(0.5));
}

TEST_CASE("step multiplies by gamma at each milestone") {
  const RateSchedule schedule{
      .decay = Decay::step, .rate = 1.0, .milestones = {3, 6}, .gamma = 0.1};
  CHECK(rate_at(schedule, 2.9, 10) == doctest::Approx(1.0));
  CHECK(rate_at(schedule, 3.0, 10) == doctest::Approx(0.1));
  CHECK(rate_at(schedule, 9.0, 10) == doctest::Approx(0.01));
}

TEST_CASE("constant stays, also where the stage is shorter than the warm-up") {
  CHECK(rate_at({.decay = Decay::constant, .rate = 0.3}, 7, 10) == doctest::Approx(0.3));
  CHECK(rate_at({.rate = 0.4, .warmup = 4}, 1, 2) == doctest::Approx(0.1));
}

}  // namespace
}  // namespace winnow
