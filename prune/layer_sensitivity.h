// `prune --sensitivity`: how much accuracy pruning each layer alone costs, or removing it.
#pragma once

#include <string>
#include <vector>

#include "prune/config/run_config.h"
#include "prune/evolution/trainee/layer_scan.h"

namespace winnow {

inline const std::vector<double> kScanSparsities = {0.5, 0.7, 0.8, 0.9, 0.95};

struct SensitivityOptions {
  std::vector<double> sparsities = kScanSparsities;
  bool is_quiet = false;
};

struct SensitivityResult {
  std::string table;  // for people
  std::string json;
  std::string page;  // HTML with charts
};

// Accuracies are those on the validation images, of the weights that `model.weights` names, with
// the masks, granularity and batch norm images of `prune:`, and of the same network without each
// layer that `model.remove_layers` can remove, alone. Writes no file but the cache of decoded
// pictures, as prune does. Throws Error{usage} if no weights are named or a sparsity is not in
// [0, 1), and what run_prune would throw before training.
SensitivityResult measure_sensitivity(const RunConfig& config, const SensitivityOptions& options);

}  // namespace winnow
