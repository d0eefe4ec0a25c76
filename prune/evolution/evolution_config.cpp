#include "prune/evolution/evolution_config.h"

#include <algorithm>
#include <cmath>

#include "prune/evolution/budget/allocation.h"
#include "prune/evolution/trainee/layer_names.h"
#include "runtime/base/divided_up.h"
#include "runtime/base/error.h"
#include "runtime/base/suggest.h"

namespace winnow {
namespace {

constexpr std::int64_t kMostKept = std::int64_t{1} << 50;    // exact as a double
constexpr std::int64_t kMaxBatches = std::int64_t{1} << 40;  // iter_nr * batch_nr stays exact

void within(const char* key, double found, double low, double high) {
  if (found >= low && found <= high) return;  // false for NaN
  fail(ErrorCode::usage, key, ": found ", found, ", expected ", low, " to ", high);
}

// A share that must stay below 1: a layer always keeps something.
void below_one(const char* key, double found) {
  if (found >= 0.0 && found < 1.0) return;
  fail(ErrorCode::usage, key, ": found ", found, ", expected at least 0 and less than 1");
}

void positive(const char* key, double found, double high) {
  if (found > 0.0 && found <= high) return;
  fail(ErrorCode::usage, key, ": found ", found, ", expected more than 0, at most ", high);
}

void at_least(const char* key, std::int64_t found, std::int64_t low, std::int64_t high) {
  if (found >= low && found <= high) return;
  fail(ErrorCode::usage, key, ": found ", found, ", expected ", low, " to ", high);
}

void in_order(const char* low_key, double low, const char* high_key, double high) {
  if (low <= high) return;
  fail(ErrorCode::usage, low_key, ": found ", low, ", expected at most ", high_key, " (", high,
       ")");
}

void check_time(const EvolutionConfig& c) {
  const bool is_time = c.budget == Budget::time;
  const char* key = c.target_ms != 0.0 ? "target_ms" : "target_speedup";
  if (!is_time && (c.target_speedup != 0.0 || c.target_ms != 0.0)) {
    fail(ErrorCode::usage, key, ": belongs to budget time, found another budget");
  }
  if (!is_time) return;
  if ((c.target_speedup != 0.0) == (c.target_ms != 0.0)) {
    fail(ErrorCode::usage, key, ": budget time needs either target_speedup or target_ms, found ",
         c.target_ms != 0.0 ? "both" : "none");
  }
  if (c.target_ms == 0.0 && !(c.target_speedup > 1.0)) {
    fail(ErrorCode::usage, "target_speedup: found ", c.target_speedup,
         ", expected more than 1, the dense network");
  }
}

void check_goal(const EvolutionConfig& c) {
  if (c.budget == Budget::time && c.target_kept != 0) {
    fail(ErrorCode::usage, "target_kept: belongs to budget parameters or macs, found time");
  }
  at_least("target_kept", c.target_kept, 0, kMostKept);
  check_time(c);
  below_one("target_sparsity", c.target_sparsity);
  below_one("initial_sparsity_min", c.initial_sparsity_min);
  below_one("initial_sparsity_max", c.initial_sparsity_max);
  in_order("initial_sparsity_min", c.initial_sparsity_min, "initial_sparsity_max",
           c.initial_sparsity_max);
  below_one("max_layer_sparsity", c.max_layer_sparsity);
  within("loss_power", c.loss_power, 1.0, 100.0);
  for (const std::string& text : c.exclude) check_layer_pattern("exclude", text);
  for (const LayerLimits& limits : c.layer_limits) {
    check_layer_pattern("layer_limits", limits.layer);
    const std::string key = "layer_limits." + in_quotes(limits.layer);
    below_one((key + ".min_sparsity").c_str(), limits.min_sparsity);
    below_one((key + ".max_sparsity").c_str(), limits.max_sparsity);
    in_order((key + ".min_sparsity").c_str(), limits.min_sparsity, "max_sparsity",
             limits.max_sparsity);
  }
  positive("sparsity_step", c.sparsity_step, 1.0);
  within("prune_until", c.prune_until, 0.0, 1.0);
  within("freeze_from", c.freeze_from, 0.0, 1.0);
  in_order("prune_until", c.prune_until, "freeze_from", c.freeze_from);
  at_least("mask_interval", c.mask_interval, 0, kMaxBatches);
}

void check_choice(const EvolutionConfig& c) {
  positive("selection_pressure", c.selection_pressure, 1.0);
  within("lag_penalty", c.lag_penalty, 0.0, 100.0);
  within("max_lag", c.max_lag, 0.0, 100.0);
  within("comparable_range", c.comparable_range, 0.0, 100.0);
  positive("accuracy_smoothing", c.accuracy_smoothing, 1.0);
  positive("layer_fraction", c.layer_fraction, 1.0);
  within("layer_exploration", c.layer_exploration, 0.0, 1.0);
  within("size_exponent", c.size_exponent, 0.0, 4.0);
  within("mutation_range", c.mutation_range, 0.0, 4.0);
  within("crossover_probability", c.crossover_probability, 0.0, 1.0);
  at_least("generation", c.generation, 1, c.pool_size);
  at_least("offspring", c.offspring, 1, 1000);
  at_least("judge_images", c.judge_images, 1, kMaxBatches);
  at_least("judge_batches", c.judge_batches, 0, c.batch_nr);
}

void check_statistics(const EvolutionConfig& c) {
  within("alpha_min", c.alpha_min, 0.0, 1.0);
  within("alpha_max", c.alpha_max, 0.0, 1.0);
  in_order("alpha_min", c.alpha_min, "alpha_max", c.alpha_max);
  within("alpha", c.alpha, c.alpha_min, c.alpha_max);
  within("alpha_step", c.alpha_step, 0.0, 1.0);
  within("migration_goal", c.migration_goal, 0.0, 1.0);
  positive("sensitivity_smoothing", c.sensitivity_smoothing, 1.0);
  at_least("patience", c.patience, 1, kMaxBatches);
  at_least("clusters", c.clusters, 1, c.pool_size);
  at_least("representatives", c.representatives, 1, c.pool_size);
}

}  // namespace

std::int64_t batches_between_masks(const EvolutionConfig& config) {
  if (config.mask_interval == 0) return config.batch_nr;
  return std::min(config.mask_interval, config.batch_nr);
}

std::int64_t masks_of(const EvolutionConfig& config) {
  return divided_up(config.batch_nr, batches_between_masks(config));
}

std::int64_t rising_iterations(const EvolutionConfig& config) {
  const double share = config.prune_until * static_cast<double>(config.iter_nr);
  return std::max<std::int64_t>(1, std::llround(share));
}

std::int64_t free_iterations(const EvolutionConfig& config) {
  return std::llround(std::ceil(config.freeze_from * static_cast<double>(config.iter_nr)));
}

void check_config(const EvolutionConfig& config) {
  within("acc_threshold", config.acc_threshold, -1.0, 1.0);
  at_least("iter_nr", config.iter_nr, 1, kMaxBatches);
  at_least("batch_nr", config.batch_nr, 1, kMaxBatches / config.iter_nr);
  at_least("pool_size", config.pool_size, 2, 1000);
  check_goal(config);
  check_choice(config);
  check_statistics(config);
}

}  // namespace winnow
