#include "prune/evolution/budget/cost_curve.h"

#include <doctest/doctest.h>

#include "tests/evolution/random_time.h"

namespace winnow {

TEST_CASE("a cost in proportion is the same everywhere, and equals its convex curve") {
  const CostCurve curve = CostCurve::proportional(3.0, 1000);
  CHECK(curve.at(0) == 0.0);
  CHECK(curve.at(41) == 123.0);
  CHECK(curve.convex_at(41) == 123.0);
  CHECK(curve.at(1000) == 3000.0);
  CHECK(curve.most_for(41) == 41.0);
}

TEST_CASE("times rise evenly between what was measured, and dense is faster from some density on") {
  const LayerTimeCurve layer{.name = "conv",
                             .weights = 1000,
                             .dense_ms = 4.0,
                             .points = {{0.1, 1.0}, {0.2, 2.0}, {0.4, 4.0}, {0.5, 4.0}}};
  const CostCurve curve = CostCurve::time(layer, 0.5);
  CHECK(curve.at(1) == 0.5);  // below the least density
  CHECK(curve.at(100) == 0.5);
  CHECK(curve.at(150) == doctest::Approx(0.75));
  CHECK(curve.at(300) == doctest::Approx(1.5));
  CHECK(curve.at(400) == 2.0);
  CHECK(curve.at(700) == 2.0);
  CHECK(curve.most_for(400) == 1000.0);
  CHECK(curve.most_for(300) == 300.0);
  CHECK(curve.most_for(20) == 100.0);
  CHECK(curve.convex_at(100) == 0.5);
  CHECK(curve.convex_at(550) == doctest::Approx(1.25));  // straight from 100 to 1000
}

TEST_CASE("curves of random tables never fall, and their convex curves lie below them") {
  Random random(5);
  for (int round = 0; round < 200; ++round) {
    const TimeModel time = random_time({{.name = "a", .blocks = 997, .weights = 997}}, random);
    const CostCurve curve = CostCurve::time(time.layers[0], time.scale);
    double slope = 0.0;
    for (int kept = 1; kept <= 997; ++kept) {
      CHECK(curve.at(kept) >= curve.at(kept - 1));
      CHECK(curve.convex_at(kept) <= curve.at(kept) + 1e-12);
      const double rise = curve.convex_at(kept) - curve.convex_at(kept - 1);
      CHECK(rise >= slope - 1e-12);
      slope = rise;
      const double most = curve.most_for(kept);
      CHECK(most >= kept);
      CHECK(curve.at(most) == doctest::Approx(curve.at(kept)).epsilon(1e-12));
    }
    CHECK(curve.convex_at(997) == doctest::Approx(curve.at(997)));
  }
}

}  // namespace winnow
