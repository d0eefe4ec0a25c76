// `prune --search-layers`: which layers a network does best without, under a budget of time.
#pragma once

#include <cstdint>
#include <string>

#include "prune/config/run_config.h"
#include "prune/evolution/population/layer_sets.h"

namespace winnow {

struct LayerSearchOptions {
  std::int64_t trials = 32;
  std::int64_t batches = 64;  // that a trial trains
  LayerSetOptions sets;       // its seed is that of the configuration
  bool is_quiet = false;
};

struct LayerSearchResult {
  std::string table;  // for people, with the best set as a setting
  std::string json;
};

// Each trial takes a set of the layers that `model.remove_layers` can remove out of the network of
// `model.weights`, masks what is left for the target as `prune:` says, at once, trains it for
// `batches` under a whole cycle of the learning rate, without the teacher of `prune.distillation`,
// and measures it on the validation images. Sets that the target cannot be met with, or that meet
// it without masks, are not trained. Writes no file but the cache of decoded pictures.
//
// Throws Error{usage} if no weights are named, the budget is not one of time, granularities are
// mixed, the network has no such layer or no set can meet the target, and what run_prune would
// throw before training.
LayerSearchResult search_layers(const RunConfig& config, const LayerSearchOptions& options);

}  // namespace winnow
