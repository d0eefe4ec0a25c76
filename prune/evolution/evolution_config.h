// The parameters of Algorithm 1. docs/pruning.md explains each with its reason.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "prune/evolution/budget/time_model.h"

namespace winnow {

// What is brought down to a target: prunable weights, multiply-accumulates of prunable weights, or
// the milliseconds that the network takes by a table of measured times.
enum class Budget { parameters, macs, time };

enum class Allocation;  // allocation.h

// How density falls from the start to the goal: the same share of what is left in every iteration,
// or fast at first and ever more slowly (Zhu and Gupta 2017).
enum class Pace { exponential, cubic };

// Bounds of one layer's sparsity that replace 0 and max_layer_sparsity.
struct LayerLimits {
  std::string layer;  // a name or a pattern (layer_names.h)
  double min_sparsity = 0.0;
  double max_sparsity = 0.99;
};

// Sparsities are shares of pruned blocks in [0, 1); accuracies are fractions, so 0.01 is a point.
struct EvolutionConfig {
  // The four of the paper.
  double acc_threshold = -0.01;  // improvement must exceed it: a loss below one point is accepted
  std::int64_t iter_nr = 100;    // iterations
  std::int64_t batch_nr = 200;   // batches trained per iteration
  std::int64_t pool_size = 8;    // solutions in the population, at least 2

  // The goal and the way to it.
  double target_sparsity = 0.9;  // of the whole budget; says nothing to a budget of time
  Budget budget = Budget::parameters;
  std::int64_t target_kept = 0;  // parameters, macs: kept at most; 0: target_sparsity says it
  double target_speedup = 0.0;   // time: against the dense network; 0: target_ms says it
  double target_ms = 0.0;        // time: of a pass of the network; 0: target_speedup says it
  std::shared_ptr<const TimeModel> time = nullptr;  // what the file of prune.time_table says
  double initial_sparsity_min = 0.0;  // every layer of every first solution draws from this range
  double initial_sparsity_max = 0.3;
  bool known_first_pool = false;  // first solutions divide what they drew by known allocations
  double max_layer_sparsity = 0.99;
  double loss_power = 1.0;  // `least_loss`: of the layers' losses that are summed, at least 1
  std::vector<LayerLimits> layer_limits;
  std::vector<std::string> exclude;  // layers or patterns: not pruned, not counted in the budget
  double sparsity_step = 0.25;  // largest share of a layer's kept blocks pruned in one iteration
  double prune_until = 0.6;     // after rising_iterations() sparsity no longer rises
  Pace pace = Pace::exponential;
  double freeze_from = 0.8;        // after this fraction masks are fixed, only weights train
  std::int64_t mask_interval = 0;  // batches between mask recomputations; 0: once per iteration

  // Choice of subnetwork and layers.
  double selection_pressure = 0.8;  // chance of the best-ranked solution; rises to 1 at freeze_from
  double lag_penalty = 0.25;        // accuracy that a density e times too high costs in the ranking
  double max_lag = 0.3;             // largest lag behind the pace, in log density
  double comparable_range = 0.2;    // solutions compare if their log densities differ by no more
  double accuracy_smoothing = 0.5;  // weight of a new accuracy in what a lineage is held to
  double layer_fraction = 0.5;      // of the layers chosen in an iteration
  double layer_exploration = 0.2;   // share of that choice that is uniform
  double size_exponent = 0.5;       // layers are pruned in proportion to kept cost to this power

  // A known allocation that plans begin with at their density, of the weights as they are; else
  // each layer's sparsity comes from that of the solution.
  std::optional<Allocation> base_allocation;

  // Variation.
  double mutation_range = 0.2;         // largest change of a layer's log density
  double crossover_probability = 0.3;  // otherwise mutation

  // Iterations that choose from the same pool and are trained side by side, by several processes if
  // there are (peers.h); at most pool_size.
  std::int64_t generation = 1;

  // Plans compared before one of them is trained (offspring.h).
  std::int64_t offspring = 1;        // 1: only the solution's own
  std::int64_t judge_images = 1024;  // training images whose loss decides
  std::int64_t judge_batches = 0;    // that each plan trains before, at most batch_nr; then undone
  bool known_allocations = false;    // among them uniform, ERK, global magnitude and LAMP

  // Eq 2's alpha.
  double alpha = 0.1;  // at the start; 0: weights alone count, in all iterations
  double alpha_min = 0.0;
  double alpha_max = 0.5;
  double alpha_step = 0.5;       // largest rise, of all masks of an iteration, as a share of it
  double migration_goal = 0.02;  // share of a layer's kept blocks that should move in an iteration

  // Sensitivity and stagnation.
  double sensitivity_smoothing = 0.3;  // weight of one iteration's evidence
  std::int64_t patience = 5;           // iterations without progress that are stagnation
  std::int64_t clusters = 3;
  std::int64_t representatives = 1;  // solutions that stay per cluster

  std::uint64_t seed = 1;
};

// How many of an iteration's batches are trained under the same masks: mask_interval, or all.
std::int64_t batches_between_masks(const EvolutionConfig& config);

// How many masks an iteration makes while they are not fixed.
std::int64_t masks_of(const EvolutionConfig& config);

// prune_until * iter_nr to the nearest, 1 at least.
std::int64_t rising_iterations(const EvolutionConfig& config);

// freeze_from * iter_nr rounded up: iterations whose masks may move.
std::int64_t free_iterations(const EvolutionConfig& config);

// Throws Error{usage} that names the key, what was found and what was expected.
void check_config(const EvolutionConfig& config);

}  // namespace winnow
