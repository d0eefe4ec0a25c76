// Each layer's alpha from the weights' migration into and out of its mask (line 15).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "prune/evolution/evolution_config.h"
#include "prune/evolution/trainee/trainee.h"

namespace winnow {

// Sum over `migrations`; kept and kept_weights too.
Migration total(std::span<const Migration> migrations);

// Share of kept blocks that changed places in an iteration: sum min(entered, left) over all
// recomputations, of so many layers each, over the mean of what they keep. Blocks that left only
// because sparsity rose, or entered only because it fell, do not count. 0 if nothing is kept.
double migration_rate(std::span<const Migration> migrations, std::size_t layers);

// migration_rate() of each layer alone: [layers].
std::vector<double> migration_rates(std::span<const Migration> migrations, std::size_t layers);

// Line 15 after a mask that moved at this rate, in terms of an iteration, where an iteration has so
// many `masks`; within [alpha_min, alpha_max]:
//   rate > goal    alpha goal / rate
//   rate <= goal   alpha (1 + alpha_step / masks (goal - rate) / goal); with a goal of 0 as it is
// Many migrants mean that gradients shake the mask: alpha falls and magnitude counts for more, at
// once, since a layer whose weights are exchanged as a whole takes the network down. None mean that
// the mask is stuck: alpha rises until gradients bring pruned weights back. What alpha a rate needs
// falls by orders of magnitude as weights settle, so that steps are shares of it; an alpha of 0
// stays 0.
double next_alpha(double alpha, double rate, std::int64_t masks, const EvolutionConfig& config);

// Line 15 of each layer, [layers], after each of the recomputations that `migrations` are of, in
// an iteration of so many `masks`. The paper has one alpha; the alpha under which a layer exchanges
// a given share of its weights differs between layers by orders of magnitude, and the rate of all
// together is that of the large ones: small layers were exchanged as a whole at one mask.
std::vector<double> next_alphas(std::vector<double> alphas, std::span<const Migration> migrations,
                                std::int64_t masks, const EvolutionConfig& config);

}  // namespace winnow
