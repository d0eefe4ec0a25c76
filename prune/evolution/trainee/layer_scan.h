// What pruning one layer alone does to the accuracy.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "prune/evolution/trainee/trainee.h"

namespace winnow {

struct LayerScan {
  double accuracy = 0.0;  // under the masks given at the start, no layer pruned further
  std::vector<std::vector<double>> accuracies;  // [layers][sparsities]
};

// Prunes the layers one at a time to each of `sparsities` (in [0, 1)), by magnitude (eq 2 with
// alpha 0), and measures; nothing is trained. Layers that masks given at the start prune more than
// that stay as they are. The trainee gets its state back, also if this throws.
// `on_measured` is told of every measurement, how many are done and how many there are; it throws
// to stop.
LayerScan scan_layers(Trainee& trainee, std::span<const double> sparsities,
                      const std::function<void(std::size_t done, std::size_t total)>& on_measured);

}  // namespace winnow
