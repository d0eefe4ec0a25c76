// Tables of times for tests.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "prune/evolution/evolution_config.h"
#include "prune/evolution/trainee/trainee.h"
#include "runtime/base/random.h"

namespace winnow {

// Times of these layers as `runtime tune --table` has them: they never fall with the density, and
// from some density on (any, or none) masks are no faster than the dense layer.
inline TimeModel random_time(const std::vector<PrunableLayer>& layers, Random& random) {
  TimeModel time{.device = "cpu", .precision = "f32", .scale = random.uniform(0.5, 1.5)};
  for (const PrunableLayer& layer : layers) {
    LayerTimeCurve one{.name = layer.name, .weights = layer.weights};
    one.dense_ms = random.uniform(0.1, 2.0);
    double density = 0.0, ms = one.dense_ms * random.uniform(0.02, 0.3);
    while (random.chance(0.9) && density < 0.7) {
      density += random.uniform(0.01, 0.15);
      one.points.emplace_back(density, ms);
      ms = std::min(one.dense_ms, ms * random.uniform(1.0, 2.5));
    }
    time.dense_ms += time.scale * one.dense_ms;
    time.layers.push_back(std::move(one));
  }
  time.constant_ms = random.uniform(0.0, 0.3) * time.dense_ms;
  time.dense_ms += time.constant_ms;
  return time;
}

inline EvolutionConfig time_config(TimeModel time, double speedup) {
  EvolutionConfig config;
  config.budget = Budget::time;
  config.target_speedup = speedup;
  config.time = std::make_shared<const TimeModel>(std::move(time));
  return config;
}

}  // namespace winnow
