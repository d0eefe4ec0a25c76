#include "prune/evolution/evolution_config.h"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <string>

#include "tests/throws.h"

namespace winnow {
namespace {

struct BadValue {
  const char* key;
  std::function<void(EvolutionConfig&)> set;
};

TEST_CASE("the defaults are in range") {
  CHECK(error_of([] { check_config(EvolutionConfig{}); }) == std::nullopt);
}

TEST_CASE("a value out of range is refused with its key's name") {
  const BadValue bad_values[] = {
      {"acc_threshold", [](EvolutionConfig& c) { c.acc_threshold = -2; }},
      {"acc_threshold", [](EvolutionConfig& c) { c.acc_threshold = std::nan(""); }},
      {"iter_nr", [](EvolutionConfig& c) { c.iter_nr = 0; }},
      {"batch_nr", [](EvolutionConfig& c) { c.batch_nr = -1; }},
      {"batch_nr", [](EvolutionConfig& c) { c.batch_nr = INT64_MAX; }},
      {"pool_size", [](EvolutionConfig& c) { c.pool_size = 1; }},
      {"target_sparsity", [](EvolutionConfig& c) { c.target_sparsity = 1.0; }},
      {"initial_sparsity_min", [](EvolutionConfig& c) { c.initial_sparsity_min = -0.1; }},
      {"initial_sparsity_min", [](EvolutionConfig& c) { c.initial_sparsity_min = 0.5; }},
      {"initial_sparsity_max", [](EvolutionConfig& c) { c.initial_sparsity_max = 1.0; }},
      {"max_layer_sparsity", [](EvolutionConfig& c) { c.max_layer_sparsity = 1.0; }},
      {"sparsity_step", [](EvolutionConfig& c) { c.sparsity_step = 0.0; }},
      {"prune_until", [](EvolutionConfig& c) { c.prune_until = 0.9; }},  // after freeze_from
      {"prune_until", [](EvolutionConfig& c) { c.prune_until = -0.1; }},
      {"freeze_from", [](EvolutionConfig& c) { c.freeze_from = 1.1; }},
      {"mask_interval", [](EvolutionConfig& c) { c.mask_interval = -1; }},
      {"selection_pressure", [](EvolutionConfig& c) { c.selection_pressure = 0.0; }},
      {"lag_penalty", [](EvolutionConfig& c) { c.lag_penalty = -1; }},
      {"max_lag", [](EvolutionConfig& c) { c.max_lag = -1; }},
      {"comparable_range", [](EvolutionConfig& c) { c.comparable_range = -1; }},
      {"accuracy_smoothing", [](EvolutionConfig& c) { c.accuracy_smoothing = 0.0; }},
      {"layer_fraction", [](EvolutionConfig& c) { c.layer_fraction = 0.0; }},
      {"layer_exploration", [](EvolutionConfig& c) { c.layer_exploration = 2.0; }},
      {"size_exponent", [](EvolutionConfig& c) { c.size_exponent = -1; }},
      {"mutation_range", [](EvolutionConfig& c) { c.mutation_range = INFINITY; }},
      {"crossover_probability", [](EvolutionConfig& c) { c.crossover_probability = 1.5; }},
      {"judge_batches", [](EvolutionConfig& c) { c.judge_batches = -1; }},
      {"judge_batches", [](EvolutionConfig& c) { c.judge_batches = c.batch_nr + 1; }},
      {"alpha", [](EvolutionConfig& c) { c.alpha = 0.6; }},  // above alpha_max
      {"alpha_min", [](EvolutionConfig& c) { c.alpha_min = 0.7; }},
      {"alpha_max", [](EvolutionConfig& c) { c.alpha_max = 1.5; }},
      {"alpha_step", [](EvolutionConfig& c) { c.alpha_step = -1; }},
      {"migration_goal", [](EvolutionConfig& c) { c.migration_goal = 2; }},
      {"sensitivity_smoothing", [](EvolutionConfig& c) { c.sensitivity_smoothing = 0; }},
      {"patience", [](EvolutionConfig& c) { c.patience = 0; }},
      {"clusters", [](EvolutionConfig& c) { c.clusters = 9; }},
      {"representatives", [](EvolutionConfig& c) { c.representatives = 0; }},
      {"layer_limits.'fc'.max_sparsity",
       [](EvolutionConfig& c) {
         c.layer_limits = {{"fc", 0.0, 1.0}};
       }},
      {"layer_limits.'fc'.min_sparsity",
       [](EvolutionConfig& c) {
         c.layer_limits = {{"fc", 0.5, 0.4}};
       }},
  };
  for (const BadValue& bad : bad_values) {
    CAPTURE(bad.key);
    EvolutionConfig config;
    bad.set(config);
    CHECK(error_of([&] { check_config(config); }) == ErrorCode::usage);
    const std::string message = message_of([&] { check_config(config); });
    CHECK(message.find(std::string(bad.key) + ": found ") == 0);
    CHECK(message.find("expected") != std::string::npos);
  }
}

}  // namespace
}  // namespace winnow
