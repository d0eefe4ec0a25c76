#include "prune/training/masks/mask_update.h"

#include <algorithm>

#include "prune/evolution/trainee/importance.h"
#include "prune/training/masks/mask_kernels.h"
#include "prune/training/masks/mask_selection.h"

namespace winnow {
namespace {

using Tensors = std::vector<torch::Tensor>;

std::vector<RankedLayer> ranked_layers(std::span<const MaskedLayer> layers) {
  std::vector<RankedLayer> ranked;
  for (const MaskedLayer& layer : layers) {
    ranked.push_back(
        {.weight = layer.ranked(), .gradient = layer.gradient_sum, .vector = layer.vector});
  }
  return ranked;
}

// Null where layers shall or must be computed one by one.
const MaskKernels* kernels_for(std::span<const RankedLayer> layers, bool fuses_kernels) {
  if (!fuses_kernels || layers.empty()) return nullptr;
  const MaskKernels* kernels = mask_kernels(layers[0].weight.device());
  const auto is_covered = [](const RankedLayer& layer) { return can_rank(layer.weight); };
  return kernels && std::ranges::all_of(layers, is_covered) ? kernels : nullptr;
}

MaskChoice top_blocks_by_kernels(const MaskKernels& kernels, std::span<const MaskedLayer> layers,
                                 std::span<const torch::Tensor> importances,
                                 std::span<const double> sparsities) {
  Tensors rows;
  std::vector<std::int64_t> counts;
  std::vector<BlocksBefore> before;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    rows.push_back(importances[i].contiguous());
    counts.push_back(kept_blocks(importances[i].numel(), sparsities[i]));
    before.push_back({.mask = layers[i].block_mask.contiguous(),
                      .vector = layers[i].vector,
                      .outputs = layers[i].weight.size(0)});
  }
  const BlockChoice choice = kernels.top_blocks(rows, counts, before);
  return {.masks = choice.masks, .migrations = choice.migrations.unbind(0)};
}

}  // namespace

Tensors importances_of_layers(std::span<const MaskedLayer> layers, double alpha,
                              bool fuses_kernels) {
  const std::vector<RankedLayer> ranked = ranked_layers(layers);
  if (const MaskKernels* kernels = kernels_for(ranked, fuses_kernels)) {
    return kernels->importances(ranked, alpha);
  }
  Tensors all;
  for (const RankedLayer& layer : ranked) {
    all.push_back(alpha == 0.0
                      ? block_magnitudes(layer.weight, layer.vector)
                      : block_importance(layer.weight, layer.gradient, layer.vector, alpha));
  }
  return all;
}

MaskChoice top_blocks_of_layers(std::span<const MaskedLayer> layers,
                                std::span<const torch::Tensor> importances,
                                std::span<const double> sparsities, bool fuses_kernels) {
  if (layers.empty()) return {};
  if (const auto* kernels = fuses_kernels ? mask_kernels(importances[0].device()) : nullptr) {
    return top_blocks_by_kernels(*kernels, layers, importances, sparsities);
  }
  MaskChoice choice;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    choice.masks.push_back(top_blocks(importances[i], sparsities[i]));
  }
  return choice;
}

}  // namespace winnow
