#include "prune/evolution/schedule.h"

#include <doctest/doctest.h>

#include <cmath>

namespace winnow {
namespace {

EvolutionConfig ten_iterations() {
  EvolutionConfig config;
  config.iter_nr = 10;
  config.prune_until = 0.6;
  config.freeze_from = 0.8;
  return config;
}

TEST_CASE("phases follow from the fractions of iter_nr") {
  const Schedule schedule(ten_iterations(), 0.8, 0.1);
  CHECK(schedule.phase(0) == Phase::rise);
  CHECK(schedule.phase(5) == Phase::rise);
  CHECK(schedule.phase(6) == Phase::settle);
  CHECK(schedule.phase(7) == Phase::settle);
  CHECK(schedule.phase(8) == Phase::tune);
  CHECK(schedule.progress(4) == 0.5);
  CHECK(schedule.progress(9) == 1.0);
}

TEST_CASE("sparsity rises in the nearest whole number of iterations, masks move in those begun") {
  EvolutionConfig config = ten_iterations();
  config.iter_nr = 12;
  CHECK(rising_iterations(config) == 7);  // 7.2
  CHECK(free_iterations(config) == 10);   // 9.6
  const Schedule schedule(config, 0.8, 0.1);
  CHECK(schedule.phase(6) == Phase::rise);
  CHECK(schedule.phase(7) == Phase::settle);
  CHECK(schedule.phase(9) == Phase::settle);
  CHECK(schedule.phase(10) == Phase::tune);
  config.prune_until = 0.0;
  CHECK(rising_iterations(config) == 1);
}

TEST_CASE("without other phases the last iteration must meet the goal") {
  EvolutionConfig config = ten_iterations();
  config.prune_until = config.freeze_from = 1.0;
  const Schedule schedule(config, 0.8, 0.1);
  CHECK(schedule.phase(9) == Phase::rise);
  CHECK(schedule.allowed_density(8) > 0.1);
  CHECK(schedule.allowed_density(9) == 0.1);
  CHECK(schedule.forced_density(9) == 0.1);
}

TEST_CASE("what lags too far is forced to the pace, and to the goal where it must be met") {
  EvolutionConfig config = ten_iterations();
  config.max_lag = std::log(1.5);
  const Schedule schedule(config, 0.8, 0.1);
  CHECK(schedule.allowed_density(0) == 1.0);
  CHECK(schedule.allowed_density(4) == doctest::Approx(0.3));
  CHECK(schedule.forced_density(4) == doctest::Approx(0.2));
  CHECK(schedule.allowed_density(6) == 0.1);
  CHECK(schedule.forced_density(7) == 0.1);
}

TEST_CASE("the pace takes the same share of what is left in every iteration") {
  const Schedule schedule(ten_iterations(), 0.8, 0.1);  // three halvings in six iterations
  CHECK(schedule.wanted_density(0) == 0.8);
  CHECK(schedule.wanted_density(2) == doctest::Approx(0.4));
  CHECK(schedule.wanted_density(4) == doctest::Approx(0.2));
  CHECK(schedule.wanted_density(6) == 0.1);
  CHECK(schedule.wanted_density(9) == 0.1);
}

TEST_CASE("a cubic pace is fast at first, and goes on from wherever a solution is") {
  EvolutionConfig config = ten_iterations();
  config.pace = Pace::cubic;
  const Schedule schedule(config, 0.9, 0.1);
  CHECK(schedule.wanted_density(0) == 0.9);
  CHECK(schedule.wanted_density(3) == doctest::Approx(0.1 + 0.8 / 8));
  CHECK(schedule.wanted_density(6) == 0.1);
  double density = 0.9;
  for (int i = 0; i < 6; ++i) {
    density = schedule.next_density(i, density);
    CHECK(density == doctest::Approx(schedule.wanted_density(i + 1)));
  }
  CHECK(schedule.next_density(4, 0.9) == doctest::Approx(0.1 + 0.8 / 8));  // two are left
}

TEST_CASE("the gap is spread over the iterations left, so failures make later steps larger") {
  const Schedule schedule(ten_iterations(), 0.8, 0.1);
  CHECK(schedule.next_density(3, 0.8) == doctest::Approx(0.4));  // three are left
  CHECK(schedule.next_density(4, 0.4) == doctest::Approx(0.2));
  CHECK(schedule.next_density(4, 0.8) == doctest::Approx(0.8 / std::sqrt(8.0)));
  CHECK(schedule.next_density(5, 0.8) == 0.1);
  CHECK(schedule.next_density(7, 0.8) == 0.1);
  CHECK(schedule.next_density(3, 0.05) == 0.05);
}

}  // namespace
}  // namespace winnow
