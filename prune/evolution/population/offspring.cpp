#include "prune/evolution/population/offspring.h"

#include <cmath>
#include <utility>

#include "prune/evolution/population/operators.h"

namespace winnow {
namespace {

constexpr std::pair<Origin, Allocation> kKnown[] = {{Origin::uniform, Allocation::uniform},
                                                    {Origin::erk, Allocation::erk},
                                                    {Origin::global, Allocation::global},
                                                    {Origin::lamp, Allocation::lamp},
                                                    {Origin::least_loss, Allocation::least_loss}};

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

std::vector<Offspring> make_offspring(std::span<const double> plan,
                                      std::span<const std::int64_t> layers,
                                      const EvolutionConfig& config, const LayerBudget& budget,
                                      std::span<const MagnitudeCurve> curves, Random& random) {
  const auto count = static_cast<std::size_t>(config.offspring);
  const double density = budget.planned_density(plan);
  std::vector<Offspring> offspring = {{Origin::plan, {plan.begin(), plan.end()}}};
  if (config.known_allocations) {
    for (const auto& [origin, allocation] : kKnown) {
      if (offspring.size() == count) break;
      if (allocation == Allocation::least_loss && budget.is_proportional()) continue;
      offspring.push_back({origin, allocate(allocation, density, budget, curves)});
    }
  }
  while (offspring.size() < count) {
    const std::vector<double> mutated = mutate(plan, layers, config.mutation_range, budget, random);
    offspring.push_back({Origin::mutation, with_density(mutated, density, budget)});
  }
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
