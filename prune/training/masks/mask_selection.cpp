#include "prune/training/masks/mask_selection.h"

#include <torch/torch.h>

#include "prune/evolution/trainee/importance.h"
#include "runtime/base/divided_up.h"

namespace winnow {
namespace {

namespace functional = torch::nn::functional;

// |values| in double, row-major as [K, inputs].
torch::Tensor magnitudes(const torch::Tensor& values) {
  return values.detach().contiguous().flatten(1).to(torch::kDouble).abs();
}

// share / mean, or 0 where the mean is 0; on the device, without waiting for it.
torch::Tensor share_over(double share, const torch::Tensor& mean) {
  return torch::where(mean > 0, share / mean, torch::zeros_like(mean));
}

// Mean of the values where `sizes`, those of the weights, are not 0.
torch::Tensor mean_of_kept(const torch::Tensor& values, const torch::Tensor& sizes) {
  return torch::where(sizes != 0, values, 0.0).sum() / sizes.count_nonzero().clamp_min(1);
}

// What the gradients' mean is taken over: importance.h says it.
torch::Tensor gradient_scale(const torch::Tensor& slopes, const torch::Tensor& sizes) {
  const torch::Tensor kept = mean_of_kept(slopes, sizes);
  return torch::where(kept > 0, kept, slopes.mean());
}

// Sums over groups of `vector` rows; the last group may have fewer. [K, n] -> [groups, n].
torch::Tensor group_sums(const torch::Tensor& rows, std::int64_t vector) {
  const std::int64_t groups = divided_up(rows.size(0), vector);
  const std::int64_t missing = groups * vector - rows.size(0);
  const torch::Tensor padded =
      functional::pad(rows, functional::PadFuncOptions({0, 0, 0, missing}));
  return padded.view({groups, vector, rows.size(1)}).sum(1);
}

torch::Tensor group_means(const torch::Tensor& rows, std::int64_t vector) {
  if (vector == 1) return rows;
  const torch::Tensor sums = group_sums(rows, vector);
  const std::int64_t groups = sums.size(0), missing = groups * vector - rows.size(0);
  torch::Tensor counts = torch::full({groups, 1}, static_cast<double>(vector), rows.options());
  counts[groups - 1].fill_(static_cast<double>(vector - missing));
  return sums / counts;
}

// A layer's blocks, the largest first; squares are in double.
struct SortedBlocks {
  torch::Tensor magnitudes, squares;
};

// [2, ranks]: magnitudes at these ranks and the sums of squares up to them.
torch::Tensor at_ranks(const SortedBlocks& sorted, const torch::Tensor& ranks) {
  return torch::stack({sorted.magnitudes.index_select(0, ranks).to(torch::kDouble),
                       sorted.squares.cumsum(0).index_select(0, ranks)});
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

// The mask of what each row [rows, n] keeps; of equals the lower index stays. The least value that
// is kept is found by selection: sorting all of them takes longer.
torch::Tensor top_of_rows(const torch::Tensor& rows, double sparsity) {
  const torch::Tensor values = rows.nan_to_num(-1.0);
  const std::int64_t count = kept_blocks(values.size(1), sparsity);
  if (count == 0) return torch::zeros_like(values, torch::kByte);
  const auto kept = values.topk(count, /*dim=*/1, /*largest=*/true, /*sorted=*/false);
  const torch::Tensor least = std::get<0>(kept).amin(1, /*keepdim=*/true);
  const torch::Tensor is_above = values > least, is_equal = values == least;
  const torch::Tensor room = count - is_above.sum(1, /*keepdim=*/true);
  const torch::Tensor has_room = is_equal.cumsum(1, torch::kInt) <= room;
  return (is_above | (is_equal & has_room)).to(torch::kByte);
}

}  // namespace

std::vector<std::int64_t> block_mask_shape(const torch::Tensor& weight, std::int64_t vector) {
  auto shape = weight.sizes().vec();
  shape[0] = divided_up(shape[0], vector);
  return shape;
}

torch::Tensor block_importance(const torch::Tensor& weight, const torch::Tensor& gradient,
                               std::int64_t vector, double alpha) {
  const torch::Tensor size = magnitudes(weight);
  torch::Tensor sum = share_over(1.0 - alpha, mean_of_kept(size, size)) * size;
  if (gradient.defined()) {
    const torch::Tensor slope = magnitudes(gradient);
    sum = sum + share_over(alpha, gradient_scale(slope, size)) * slope;
  }
  return group_means(sum, vector).to(torch::kFloat).view(block_mask_shape(weight, vector));
}

torch::Tensor block_magnitudes(const torch::Tensor& weight, std::int64_t vector) {
  if (vector == 1) return weight.detach().contiguous().abs();
  const torch::Tensor means = group_means(magnitudes(weight), vector);
  return means.to(torch::kFloat).view(block_mask_shape(weight, vector));
}

torch::Tensor top_blocks(const torch::Tensor& importance, double sparsity) {
  return top_of_rows(importance.flatten().unsqueeze(0), sparsity).view(importance.sizes());
}

torch::Tensor top_blocks_of_rows(const torch::Tensor& importance, double sparsity) {
  return top_of_rows(importance.flatten(1), sparsity).view(importance.sizes());
}

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

std::vector<MagnitudeCurve> magnitude_curves(std::span<const WeightBlocks> layers) {
  return curves_of(layers, [](const WeightBlocks& layer) {
    const torch::Tensor blocks = block_magnitudes(layer.weight, layer.vector).flatten();
    const torch::Tensor sorted = std::get<0>(blocks.sort(/*dim=*/0, /*descending=*/true));
    return SortedBlocks{sorted, sorted.to(torch::kDouble).square()};
  });
}

std::vector<MagnitudeCurve> weight_curves(std::span<const WeightBlocks> layers) {
  return curves_of(layers, [](const WeightBlocks& layer) {
    const torch::Tensor size = magnitudes(layer.weight);
    const auto [sorted, order] =
        group_means(size, layer.vector).flatten().sort(/*dim=*/0, /*descending=*/true);
    const torch::Tensor squares = group_sums(size.square(), layer.vector).flatten();
    return SortedBlocks{sorted, squares.index_select(0, order)};
  });
}

torch::Tensor weight_mask(const torch::Tensor& block_mask, const torch::Tensor& weight,
                          std::int64_t vector) {
  const torch::Tensor rows =
      vector == 1 ? block_mask
                  : block_mask.repeat_interleave(vector, 0).narrow(0, 0, weight.size(0));
  torch::Tensor mask = torch::empty_like(weight).detach();  // keeps strides
  return mask.copy_(rows);
}

}  // namespace winnow
