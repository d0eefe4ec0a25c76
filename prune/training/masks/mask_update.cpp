#include "prune/training/masks/mask_update.h"

#include <algorithm>

#include "prune/evolution/trainee/importance.h"
#include "prune/training/masks/mask_selection.h"

namespace winnow {
namespace {

using Tensors = std::vector<torch::Tensor>;

torch::Tensor importance_of(const MaskedLayer& layer, double alpha) {
  if (alpha == 0.0) return block_magnitudes(layer.ranked(), layer.vector);
  return block_importance(layer.ranked(), layer.gradient_sum, layer.vector, alpha);
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
  return kernels.top_blocks(rows, counts, before);
}

}  // namespace

const MaskKernels* kernels_for(std::span<const MaskedLayer> layers, bool fuses_kernels) {
  if (!fuses_kernels || layers.empty()) return nullptr;
  const MaskKernels* kernels = mask_kernels(layers[0].weight.device());
  const auto is_covered = [](const MaskedLayer& layer) { return can_rank(layer.weight); };
  return kernels && std::ranges::all_of(layers, is_covered) ? kernels : nullptr;
}

Tensors importances_of_layers(std::span<const MaskedLayer> layers, std::span<const double> alphas,
                              bool fuses_kernels) {
  const MaskKernels* kernels = kernels_for(layers, fuses_kernels);
  std::vector<RankedLayer> ranked;
  Tensors all;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const MaskedLayer& layer = layers[i];
    const double alpha = alphas.empty() ? 0.0 : alphas[i];
    if (kernels) {
      ranked.push_back({.weight = layer.ranked(),
                        .gradient = layer.gradient_sum,
                        .vector = layer.vector,
                        .alpha = alpha});
    } else {
      all.push_back(importance_of(layer, alpha));
    }
  }
  return kernels ? kernels->importances(ranked) : all;
}

MaskChoice top_blocks_of_layers(std::span<const MaskedLayer> layers,
                                std::span<const torch::Tensor> importances,
                                std::span<const double> sparsities, bool fuses_kernels) {
  if (const MaskKernels* kernels = kernels_for(layers, fuses_kernels)) {
    return top_blocks_by_kernels(*kernels, layers, importances, sparsities);
  }
  MaskChoice choice;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    choice.masks.push_back(top_blocks(importances[i], sparsities[i]));
  }
  return choice;
}

}  // namespace winnow
