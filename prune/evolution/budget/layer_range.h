// How far each layer may be pruned.
#pragma once

#include <vector>

#include "prune/evolution/evolution_config.h"
#include "prune/evolution/trainee/trainee.h"

namespace winnow {

// Of a layer's sparsity.
struct LayerRange {
  double min = 0.0;
  double max = 0.0;
  bool excluded = false;
};

// What max_layer_sparsity, layer_limits and exclude say, [layers]. Throws Error{usage} if a name is
// unknown or given twice, a pattern (layer_names.h) matches no layer, two patterns limit one layer,
// or a layer is inconsistent or begins sparser than its limit.
std::vector<LayerRange> layer_ranges(const EvolutionConfig& config,
                                     const std::vector<PrunableLayer>& layers);

}  // namespace winnow
