// Which granularity each layer's masks have, where a budget of time lets them differ.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "prune/evolution/evolution_config.h"
#include "prune/evolution/trainee/magnitude_curve.h"
#include "prune/evolution/trainee/trainee.h"

namespace winnow {

// The network's layers in blocks of one granularity, and what their weights are worth in them.
struct LayersOfGranularity {
  std::vector<PrunableLayer> layers;
  std::vector<MagnitudeCurve> curves;  // [layers]; `squares` sums the squares of weights
};

struct GranularityChoice {
  std::vector<std::int64_t> vectors;  // [layers] output channels that share a mask bit
  std::vector<double> sparsities;     // [layers] with which the weights lose least
  double predicted_ms = 0.0;          // with these
};

// The granularities and densities with which the weights lose least within the target time:
// least_loss_ways() over the granularities of config.time together. A layer that stays
// dense gets the granularity in which it would be pruned next. Excluded layers keep the first.
//
//   granularities  in the order of config.time->granularities
GranularityChoice choose_granularities(const EvolutionConfig& config,
                                       const std::vector<LayersOfGranularity>& granularities);

// `time`, its layers' times being those of the granularities that these layers were given. Throws
// Error{usage} if there are no times of one.
TimeModel with_granularities(TimeModel time, const std::vector<std::int64_t>& vectors,
                             const std::vector<PrunableLayer>& layers);

}  // namespace winnow
