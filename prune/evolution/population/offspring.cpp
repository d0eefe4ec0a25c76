#include "prune/evolution/population/offspring.h"

#include <cmath>
#include <utility>

#include "prune/evolution/population/operators.h"

namespace winnow {
namespace {

Origin origin_of(Allocation allocation) {
  switch (allocation) {
    case Allocation::uniform:
      return Origin::uniform;
    case Allocation::erk:
      return Origin::erk;
    case Allocation::global:
      return Origin::global;
    case Allocation::lamp:
      return Origin::lamp;
    case Allocation::least_loss:
      return Origin::least_loss;
  }
  return Origin::plan;
}

}  // namespace

std::string_view to_string(Origin origin) {
  switch (origin) {
    case Origin::plan:
      return "plan";
    case Origin::uniform:
      return "uniform";
    case Origin::erk:
      return "erk";
    case Origin::global:
      return "global";
    case Origin::lamp:
      return "lamp";
    case Origin::least_loss:
      return "least_loss";
    case Origin::mutation:
      return "mutation";
  }
  return "";
}

std::vector<Offspring> make_offspring(std::span<const double> plan, std::span<const double> least,
                                      std::span<const std::int64_t> layers,
                                      const EvolutionConfig& config, const LayerBudget& budget,
                                      std::span<const MagnitudeCurve> curves, Random& random) {
  const auto count = static_cast<std::size_t>(config.offspring);
  const double density = budget.planned_density(plan);
  std::vector<Offspring> offspring = {{Origin::plan, {plan.begin(), plan.end()}}};
  if (config.known_allocations) {
    for (const Allocation known : known_allocations(budget)) {
      if (offspring.size() == count) break;
      std::vector<double> divided = allocate(known, density, budget, curves);
      if (!least.empty()) divided = with_density(divided, density, budget, least);
      offspring.push_back({origin_of(known), std::move(divided)});
    }
  }
  while (offspring.size() < count) {
    const std::vector<double> mutated = mutate(plan, layers, config.mutation_range, budget, random);
    offspring.push_back({Origin::mutation, with_density(mutated, density, budget, least)});
  }
  std::erase_if(offspring, [&](const Offspring& other) {
    return other.origin != Origin::plan && other.sparsities == offspring.front().sparsities;
  });
  return offspring;
}

std::size_t least_loss(std::span<const Offspring> offspring) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < offspring.size(); ++i) {
    const double loss = offspring[i].loss, least = offspring[best].loss;
    if (loss < least || (std::isnan(least) && !std::isnan(loss))) best = i;
  }
  return best;
}

}  // namespace winnow
