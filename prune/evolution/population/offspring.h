// Plans that an iteration compares before it trains one of them.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "prune/evolution/budget/allocation.h"
#include "prune/evolution/budget/layer_budget.h"
#include "prune/evolution/evolution_config.h"
#include "runtime/base/random.h"

namespace winnow {

enum class Origin { plan, uniform, erk, global, lamp, least_loss, mutation };

std::string_view to_string(Origin origin);

struct Offspring {
  Origin origin = Origin::plan;
  std::vector<double> sparsities = {};
  double loss = 0.0;  // of training images under its masks, before it is trained as an iteration
};

// config.offspring plans or fewer, none denser than `plan` and each as dense as it can be: the plan
// itself, the known allocations if they are asked for, and mutations of the plan. None is the same
// as the plan.
//
//   least   as with_density() has it: what layers keep now, where nothing says which of their
//           pruned weights should return
//   layers  those that mutations change
//   curves  as allocate() wants them
std::vector<Offspring> make_offspring(std::span<const double> plan, std::span<const double> least,
                                      std::span<const std::int64_t> layers,
                                      const EvolutionConfig& config, const LayerBudget& budget,
                                      std::span<const MagnitudeCurve> curves, Random& random);

// Index of the least loss; of equals the first, and the first too if no loss is a number.
std::size_t least_loss(std::span<const Offspring> offspring);

}  // namespace winnow
