// Which groups of weights stay, from their norms.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "prune/evolution/budget/layer_budget.h"
#include "prune/evolution/trainee/weight_groups.h"

namespace winnow {

// The groups that are not 0; of each list that has only zeros the first one.
std::vector<KeptGroups> living_groups(std::span<const GroupNorms> norms);

// Weights of layer i that these groups keep of a mask that kept all, or with channel masks the
// weights of the filters.
std::int64_t weights_kept(const PrunableLayer& layer, const KeptGroups& kept);

// Of `living` those with the largest norms, so that density() is no more than `density` and, as far
// as groups and the layers' ranges allow, as much: kernel shapes where a layer has any and
// `cuts_shapes` says so, else filters. A group counts by its norm over the mean of its layer's:
// norms depend on a layer's fan-in, and on what comes behind it. `most`, [layers], is what masks
// keep now.
std::vector<KeptGroups> cut_groups(std::span<const GroupNorms> norms,
                                   std::vector<KeptGroups> living, bool cuts_shapes, double density,
                                   std::span<const std::int64_t> most, const LayerBudget& budget);

}  // namespace winnow
