#include "runtime/bench/network_fit.h"

#include <doctest/doctest.h>

#include <cmath>

#include "runtime/base/random.h"

namespace winnow {

TEST_CASE("the fit passes through the dense and the pruned network") {
  const NetworkFit fit = fit_network({11, 10}, {5, 2});
  CHECK(fit.scale == doctest::Approx(0.75));
  CHECK(fit.constant_ms == doctest::Approx(3.5));
}

TEST_CASE("a constant below 0 is none, and the pruned network counts") {
  const NetworkFit fit = fit_network({10, 10}, {2, 4});
  CHECK(fit.constant_ms == 0);
  CHECK(fit.scale == doctest::Approx(0.5));
}

TEST_CASE("without a pruned network that is faster the dense one alone counts") {
  const NetworkFit longer = fit_network({12, 10}, {12, 5});
  CHECK(longer.constant_ms == doctest::Approx(2));
  CHECK(longer.scale == 1);
  const NetworkFit shorter = fit_network({8, 10}, {4, 9.9});
  CHECK(shorter.constant_ms == 0);
  CHECK(shorter.scale == doctest::Approx(0.8));
}

TEST_CASE("any fit has a scale above 0, a constant of 0 or more, and one of the points") {
  Random random(3);
  for (int round = 0; round < 1000; ++round) {
    const NetworkPoint dense{random.uniform(0.1, 9), random.uniform(0.1, 9)};
    const NetworkPoint pruned{random.uniform(0.1, 9), random.uniform(0.1, 9)};
    const NetworkFit fit = fit_network(dense, pruned);
    CHECK(fit.scale > 0);
    CHECK(fit.constant_ms >= 0);
    const auto misses = [&](const NetworkPoint& point) {
      return std::abs(fit.constant_ms + fit.scale * point.layers_ms - point.network_ms) > 1e-9;
    };
    CHECK_FALSE((misses(dense) && misses(pruned)));
  }
}

}  // namespace winnow
