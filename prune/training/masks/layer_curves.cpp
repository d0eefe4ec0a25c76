#include "prune/training/masks/layer_curves.h"

#include <torch/types.h>

#include <functional>
#include <numeric>

#include "prune/training/masks/block_sums.h"
#include "prune/training/masks/mask_selection.h"
#include "prune/training/masks/mask_update.h"

namespace winnow {
namespace {

using Tensors = std::vector<torch::Tensor>;

// A layer's blocks, the largest first; squares are in double.
struct SortedBlocks {
  torch::Tensor magnitudes, squares;
};

// [2, ranks]: magnitudes at these ranks and the sums of squares up to them.
torch::Tensor at_ranks(const SortedBlocks& sorted, const torch::Tensor& ranks) {
  return torch::stack({sorted.magnitudes.index_select(0, ranks).to(torch::kDouble),
                       sorted.squares.cumsum(0).index_select(0, ranks)});
}

// Of layers of so many blocks, [layers]. `found` gives, of the ranks of all layers, one layer after
// the other, f64 [2, ranks], contiguous, on any device: magnitudes, and sums of squares up to them.
std::vector<MagnitudeCurve> curves_from(
    std::span<const std::int64_t> blocks,
    const std::function<torch::Tensor(std::span<const MagnitudeCurve>)>& found) {
  if (blocks.empty()) return {};
  std::vector<MagnitudeCurve> curves;
  for (const std::int64_t count : blocks) curves.push_back({.ranks = curve_ranks(count)});
  const torch::Tensor all = found(curves).to(torch::kCPU);
  const auto* magnitude = all.const_data_ptr<double>();
  const double* square = magnitude + all.size(1);
  for (MagnitudeCurve& curve : curves) {
    const std::size_t count = curve.ranks.size();
    curve.magnitudes.assign(magnitude, magnitude + count);
    curve.squares.assign(square, square + count);
    magnitude += count;
    square += count;
  }
  return curves;
}

// `sorted` gives the blocks of a layer. All ranks go to the device at once and all that is found
// there comes back at once, so that the host waits twice and not per layer.
std::vector<MagnitudeCurve> curves_of(
    std::span<const WeightBlocks> layers,
    const std::function<SortedBlocks(const WeightBlocks&)>& sorted) {
  std::vector<std::int64_t> blocks;
  for (const auto& [weight, vector] : layers) {
    blocks.push_back(c10::multiply_integers(block_mask_shape(weight, vector)));
  }
  return curves_from(blocks, [&](std::span<const MagnitudeCurve> curves) {
    std::vector<std::int64_t> ranks, sizes;
    for (const MagnitudeCurve& curve : curves) {
      ranks.insert(ranks.end(), curve.ranks.begin(), curve.ranks.end());
      sizes.push_back(static_cast<std::int64_t>(curve.ranks.size()));
    }
    const std::vector<torch::Tensor> layer_ranks =
        torch::tensor(ranks, torch::kLong).to(layers[0].weight.device()).split_with_sizes(sizes);
    std::vector<torch::Tensor> found;
    for (std::size_t i = 0; i < layers.size(); ++i) {
      found.push_back(at_ranks(sorted(layers[i]), layer_ranks[i]));
    }
    return torch::cat(found, 1);
  });
}

// [2, ranks]: magnitudes at the curves' ranks and the sums of squares up to them.
torch::Tensor found_by_kernels(const MaskKernels& kernels, const Tensors& importances,
                               std::span<const MagnitudeCurve> curves) {
  std::vector<Ranks> ranks;
  for (const MagnitudeCurve& curve : curves) ranks.push_back(curve.ranks);
  torch::Tensor found = kernels.at_ranks(importances, ranks).to(torch::kCPU);
  double* square = found.mutable_data_ptr<double>() + found.size(1);
  for (const Ranks& of_layer : ranks) {
    double* end = square + of_layer.size();
    std::partial_sum(square, end, square);
    square = end;
  }
  return found;
}

}  // namespace

std::vector<MagnitudeCurve> magnitude_curves(std::span<const WeightBlocks> layers) {
  return curves_of(layers, [](const WeightBlocks& layer) {
    const torch::Tensor blocks = block_magnitudes(layer.weight, layer.vector).flatten();
    const torch::Tensor sorted = std::get<0>(blocks.sort(/*dim=*/0, /*descending=*/true));
    return SortedBlocks{sorted, sorted.to(torch::kDouble).square()};
  });
}

std::vector<MagnitudeCurve> weight_curves(std::span<const WeightBlocks> layers) {
  return curves_of(layers, [](const WeightBlocks& layer) {
    const torch::Tensor size = row_magnitudes(layer.weight);
    const auto [sorted, order] =
        group_means(size, layer.vector).flatten().sort(/*dim=*/0, /*descending=*/true);
    const torch::Tensor squares = group_sums(size.square(), layer.vector).flatten();
    return SortedBlocks{sorted, squares.index_select(0, order)};
  });
}

std::vector<MagnitudeCurve> curves_of_layers(std::span<const MaskedLayer> layers,
                                             bool fuses_kernels) {
  const MaskKernels* kernels = kernels_for(layers, fuses_kernels);
  if (!kernels) {
    std::vector<WeightBlocks> blocks;
    for (const MaskedLayer& layer : layers) blocks.push_back({layer.ranked(), layer.vector});
    return magnitude_curves(blocks);
  }
  const Tensors importances = importances_of_layers(layers, {}, fuses_kernels);
  std::vector<std::int64_t> counts;
  for (const torch::Tensor& importance : importances) counts.push_back(importance.numel());
  return curves_from(counts, [&](std::span<const MagnitudeCurve> curves) {
    return found_by_kernels(*kernels, importances, curves);
  });
}

}  // namespace winnow
