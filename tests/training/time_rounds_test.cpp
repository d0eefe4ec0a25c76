// What a measured network says of the times of others.
#include "prune/timing/time_rounds.h"

#include <doctest/doctest.h>

#include <memory>

namespace winnow {
namespace {

// Two layers of 100 weights, 1 ms each and in proportion to what is kept down to a tenth. The dense
// network takes 2 ms, wanted is 1.
std::vector<PrunableLayer> layers() {
  return {{.name = "a", .blocks = 100, .weights = 100},
          {.name = "b", .blocks = 100, .weights = 100}};
}

RunConfig wanted_in_1_ms() {
  const std::vector<std::pair<double, double>> points = {{0.1, 0.1}, {0.5, 0.5}};
  auto time = std::make_shared<TimeModel>();
  time->dense_ms = 2.0;
  for (const char* name : {"a", "b"}) {
    time->layers.push_back({.name = name, .weights = 100, .dense_ms = 1.0, .points = points});
  }
  RunConfig config;
  config.evolution.budget = Budget::time;
  config.evolution.target_ms = 1.0;
  config.evolution.time = std::move(time);
  return config;
}

// Measures a network, and predictions follow it.
TimeMeasurement measure(RunConfig& config, TimeRounds& rounds, double layers_ms, double ms) {
  const TimeModel& time = *config.evolution.time;
  rounds.measured.push_back(
      judged(config, layers(), rounds, time.constant_ms + time.scale * layers_ms, ms));
  correct(config, rounds);
  return rounds.measured.back();
}

// The sum of the layers' ms of a network that is predicted to take as long as wanted.
double planned(const TimeMeasurement& last) {
  return (1.0 - last.fit.constant_ms) / last.fit.scale;
}

}  // namespace

TEST_CASE("predictions follow the line through the dense network and the measured one") {
  RunConfig config = wanted_in_1_ms();
  TimeRounds rounds;
  const TimeMeasurement first = measure(config, rounds, 1.0, 1.4);
  CHECK(first.is_followed);
  CHECK(first.layers_ms == doctest::Approx(1.0));
  CHECK(first.fit.constant_ms == doctest::Approx(0.8));
  CHECK(first.fit.scale == doctest::Approx(0.6));
  CHECK(config.evolution.time->scale == first.fit.scale);
}

// By the line through the dense network the sparsest one takes 0.9 + 0.55 * 0.2 = 1.01 ms.
TEST_CASE("a line by which no network is fast enough is not followed") {
  RunConfig config = wanted_in_1_ms();
  TimeRounds rounds;
  const TimeMeasurement first = measure(config, rounds, 1.0, 1.45);
  CHECK(first.is_followed);
  CHECK(first.fit.constant_ms == doctest::Approx(0.0));
  CHECK(first.fit.scale == doctest::Approx(1.45));

  config = wanted_in_1_ms();
  rounds = {};
  CHECK(!measure(config, rounds, 1.0, 6.0).is_followed);
  CHECK(config.evolution.time->scale == 1.0);
}

TEST_CASE("between a network that is too slow and one that is faster than wanted a line is drawn") {
  RunConfig config = wanted_in_1_ms();
  TimeRounds rounds;
  measure(config, rounds, 1.0, 1.45);
  const TimeMeasurement second = measure(config, rounds, 0.7, 0.85);
  CHECK(second.fit.scale == doctest::Approx(2.0));
  CHECK(second.fit.constant_ms == doctest::Approx(-0.55));
  CHECK(planned(second) == doctest::Approx(0.775));
  // One that lies between them replaces one of them.
  const TimeMeasurement third = measure(config, rounds, 0.775, 1.15);
  CHECK(third.fit.scale == doctest::Approx(4.0));
  CHECK(planned(third) == doctest::Approx(0.7375));
}

// Times that fall in one step, as those of whole channels may: the line through the dense network
// alone would go on leading from one side of the step to the other.
TEST_CASE("a step in the times is found within few measurements") {
  const auto network_ms = [](double layers_ms) {
    return layers_ms > 0.8 ? 1.3 + 0.5 * (layers_ms - 0.8) : 0.6 + 0.4 * layers_ms / 0.8;
  };
  RunConfig config = wanted_in_1_ms();
  TimeRounds rounds;
  TimeMeasurement last = measure(config, rounds, 1.0, network_ms(1.0));
  for (int i = 0; i < 6; ++i)
    last = measure(config, rounds, planned(last), network_ms(planned(last)));
  CAPTURE(last.layers_ms);
  CHECK(last.measured_ms <= 1.0);
  CHECK(last.measured_ms >= 0.9);
}

TEST_CASE("where a sparser network was slower no line is drawn between the two") {
  RunConfig config = wanted_in_1_ms();
  TimeRounds rounds;
  measure(config, rounds, 1.0, 0.9);
  const TimeMeasurement second = measure(config, rounds, 0.8, 1.3);
  CHECK(second.is_followed);
  CHECK(second.fit.scale > 0.0);
  CHECK(second.fit.constant_ms >= 0.0);
}

}  // namespace winnow
