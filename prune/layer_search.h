// `prune --search-layers`: which layers a network does best without, under a budget.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "prune/config/run_config.h"
#include "prune/evolution/population/layer_sets.h"

namespace winnow {

struct LayerSearchOptions {
  std::int64_t trials = 32;
  std::int64_t batches = 64;  // that a trial trains, a multiple of four
  LayerSetOptions sets;       // the seed is the configuration's, `most_alone` half of the trials
  bool is_quiet = false;
  std::string file = {};    // has the JSON of what was tried after each trial; empty: none
  bool resumes = false;     // with the trials that `file` has
  bool overwrites = false;  // those trials: else they are refused
  std::function<bool()> should_stop = {};
  std::function<void()> on_begin = {};  // before the first trial
};

struct LayerSearchResult {
  std::string table;  // for people, with the best set as a setting
  std::string json;
};

// Each trial takes a set of the layers that `model.remove_layers` can remove out of the network of
// `model.weights`, or of one with random weights where no file is named, and prunes what is left to
// the target: gradually by magnitude, in four iterations of a quarter of `batches` each, under a
// whole cycle of the learning rate and without the teacher of `prune.distillation`. The accuracy on
// the validation images counts. A target sparsity is one of the whole network's budget: what is
// left keeps as much of it (`prune.target_kept`), in fewer layers. Sets that the target cannot be
// met with, or that meet it without masks, are not trained. Writes no file but `file` and the cache
// of decoded pictures. A search that goes on ends as one that was not stopped.
//
// Throws Error{interrupted} if it is to stop, read_trials()'s errors or require_no_trials()'s,
// Error{usage} if `batches` is no multiple of four, granularities are mixed, the network has no
// such layer or no set can meet the target, and what run_prune would throw before training.
LayerSearchResult search_layers(const RunConfig& config, const LayerSearchOptions& options);

}  // namespace winnow
