#include "prune/evolution/trainee/layer_scan.h"

#include <algorithm>

namespace winnow {
namespace {

using OnMeasured = std::function<void(std::size_t done, std::size_t total)>;

LayerScan scan_from(const Snapshot& start, Trainee& trainee, std::span<const double> sparsities,
                    const OnMeasured& on_measured) {
  const std::vector<PrunableLayer>& layers = trainee.layers();
  std::vector<double> given;
  for (const PrunableLayer& layer : layers) given.push_back(layer.initial_sparsity);
  const std::size_t total = 1 + layers.size() * sparsities.size();
  std::size_t done = 0;
  const auto measured = [&](const std::vector<double>& wanted) {
    trainee.restore(start);
    trainee.recompute_masks(wanted, {});
    const double accuracy = trainee.measure_accuracy();
    if (on_measured) on_measured(++done, total);
    return accuracy;
  };

  LayerScan scan;
  scan.accuracy = measured(given);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    scan.accuracies.emplace_back();
    for (const double sparsity : sparsities) {
      std::vector<double> wanted = given;
      wanted[i] = std::max(sparsity, given[i]);
      scan.accuracies.back().push_back(measured(wanted));
    }
  }
  return scan;
}

}  // namespace

LayerScan scan_layers(Trainee& trainee, std::span<const double> sparsities,
                      const OnMeasured& on_measured) {
  const std::shared_ptr<const Snapshot> start = trainee.snapshot();
  try {
    LayerScan scan = scan_from(*start, trainee, sparsities, on_measured);
    trainee.restore(*start);
    return scan;
  } catch (...) {
    trainee.restore(*start);
    throw;
  }
}

}  // namespace winnow
