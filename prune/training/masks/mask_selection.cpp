#include "prune/training/masks/mask_selection.h"

#include <torch/types.h>

#include "prune/evolution/trainee/importance.h"
#include "prune/training/masks/block_sums.h"
#include "runtime/base/divided_up.h"

namespace winnow {
namespace {

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
  const torch::Tensor size = row_magnitudes(weight);
  torch::Tensor sum = share_over(1.0 - alpha, mean_of_kept(size, size)) * size;
  if (gradient.defined()) {
    const torch::Tensor slope = row_magnitudes(gradient);
    sum = sum + share_over(alpha, gradient_scale(slope, size)) * slope;
  }
  return group_means(sum, vector).to(torch::kFloat).view(block_mask_shape(weight, vector));
}

torch::Tensor block_magnitudes(const torch::Tensor& weight, std::int64_t vector) {
  if (vector == 1) return weight.detach().contiguous().abs();
  const torch::Tensor means = group_means(row_magnitudes(weight), vector);
  return means.to(torch::kFloat).view(block_mask_shape(weight, vector));
}

torch::Tensor top_blocks(const torch::Tensor& importance, double sparsity) {
  return top_of_rows(importance.flatten().unsqueeze(0), sparsity).view(importance.sizes());
}

torch::Tensor top_blocks_of_rows(const torch::Tensor& importance, double sparsity) {
  return top_of_rows(importance.flatten(1), sparsity).view(importance.sizes());
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
