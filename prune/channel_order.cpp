#include "prune/channel_order.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <span>

#include "prune/evolution/budget/layer_budget.h"
#include "prune/methods/goal_plan.h"
#include "prune/training/channels/channel_permutation.h"

namespace winnow {
namespace {

std::vector<LayerMasks> masks_of_goal(const RunConfig& config,
                                      const std::vector<std::int64_t>& vectors,
                                      const std::vector<PrunableLayer>& layers,
                                      std::span<const MagnitudeCurve> curves) {
  const LayerBudget budget(config.evolution, layers);
  const std::vector<double> sparsities =
      goal_sparsities(config.method, config.evolution, budget, curves);
  std::vector<LayerMasks> masks;
  for (std::size_t i = 0; i < sparsities.size(); ++i) {
    masks.push_back({layers[i].name, vectors[i], 1.0 - sparsities[i]});
  }
  return masks;
}

double kept_of(const LayerMasks& masks, const MagnitudeCurve& curve) {
  const auto blocks = static_cast<double>(curve.ranks.back() + 1);
  const auto count = std::max<std::int64_t>(1, std::llround(masks.density * blocks));
  return std::exp(-loss_of(curve, count));
}

}  // namespace

std::vector<KeptOfLayer> permute_for_goal(const RunConfig& config,
                                          const std::vector<std::int64_t>& vectors, Model model,
                                          TorchTrainee& trainee) {
  const std::vector<MagnitudeCurve> before = trainee.magnitude_curves();
  const std::vector<LayerMasks> masks = masks_of_goal(config, vectors, trainee.layers(), before);
  const ChannelUnits units = channel_units(model.graph);
  permute_channels(units, permutation_for(units, model, masks), model);
  trainee.load(model);
  const std::vector<MagnitudeCurve> after = trainee.magnitude_curves();
  std::vector<KeptOfLayer> layers;
  for (std::size_t i = 0; i < masks.size(); ++i) {
    if (masks[i].vector == 1 || masks[i].density >= 1.0) continue;
    layers.push_back({masks[i].name, kept_of(masks[i], before[i]), kept_of(masks[i], after[i])});
  }
  return layers;
}

std::string to_json(const std::vector<KeptOfLayer>& layers) {
  using Json = nlohmann::ordered_json;
  Json before = Json::object(), after = Json::object();
  for (const KeptOfLayer& layer : layers) {
    before[layer.name] = layer.before;
    after[layer.name] = layer.after;
  }
  return Json{{"stage", "permutation"}, {"kept_before", before}, {"kept_after", after}}.dump();
}

}  // namespace winnow
