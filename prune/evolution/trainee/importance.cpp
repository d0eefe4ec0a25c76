#include "prune/evolution/trainee/importance.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "runtime/base/error.h"

namespace winnow {
namespace {

double sum_of_magnitudes(std::span<const float> values) {
  double sum = 0.0;
  for (const float value : values) sum += std::abs(static_cast<double>(value));
  return sum;
}

double mean_magnitude(std::span<const float> values) {
  return values.empty() ? 0.0 : sum_of_magnitudes(values) / static_cast<double>(values.size());
}

// Of the values whose weights are not 0: pruned ones say nothing about the size of the others.
double mean_kept_magnitude(std::span<const float> values, std::span<const float> weights) {
  std::vector<float> kept;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (weights[i] != 0.0f) kept.push_back(values[i]);
  }
  return mean_magnitude(kept);
}

double gradient_scale(std::span<const float> gradients, std::span<const float> weights) {
  const double kept = mean_kept_magnitude(gradients, weights);
  return kept > 0.0 ? kept : mean_magnitude(gradients);
}

double share_over(double share, double mean) {
  return mean > 0.0 ? share / mean : 0.0;
}

void check_layout(const BlockLayout& layout, std::size_t weights) {
  if (layout.channels < 0 || layout.inputs < 0 || layout.vector < 1 ||
      static_cast<std::size_t>(layout.weights()) != weights) {
    fail(ErrorCode::usage, "importance: ", weights, " weights, expected [", layout.channels, ", ",
         layout.inputs, "] in vectors of ", layout.vector, " channels");
  }
}

// Channels of group g: `vector`, or what is left of them for the last group.
std::int64_t channels_of(const BlockLayout& layout, std::int64_t g) {
  return std::min(layout.vector, layout.channels - g * layout.vector);
}

}  // namespace

std::int64_t kept_blocks(std::int64_t blocks, double sparsity) {
  if (blocks <= 0) return 0;
  const double kept = std::floor((1.0 - sparsity) * static_cast<double>(blocks) + 0.5);
  return std::clamp(static_cast<std::int64_t>(kept), std::int64_t{1}, blocks);
}

std::int64_t kept_blocks(const PrunableLayer& layer, double sparsity) {
  return layer.balanced_rows * kept_blocks(layer.blocks / layer.balanced_rows, sparsity);
}

std::vector<float> block_importance(std::span<const float> weights,
                                    std::span<const float> gradients, const BlockLayout& layout,
                                    double alpha) {
  check_layout(layout, weights.size());
  if (!gradients.empty()) check_layout(layout, gradients.size());
  if (!(alpha >= 0.0 && alpha <= 1.0)) {
    fail(ErrorCode::usage, "importance: alpha is ", alpha, ", expected 0 to 1");
  }
  const double per_weight = share_over(1.0 - alpha, mean_kept_magnitude(weights, weights));
  const double per_gradient = share_over(alpha, gradient_scale(gradients, weights));

  std::vector<float> importance(static_cast<std::size_t>(layout.blocks()));
  for (std::int64_t g = 0; g < layout.groups(); ++g) {
    for (std::int64_t j = 0; j < layout.inputs; ++j) {
      double sum = 0.0;
      for (std::int64_t i = 0; i < channels_of(layout, g); ++i) {
        const auto at = static_cast<std::size_t>((g * layout.vector + i) * layout.inputs + j);
        sum += per_weight * std::abs(static_cast<double>(weights[at]));
        if (!gradients.empty()) {
          sum += per_gradient * std::abs(static_cast<double>(gradients[at]));
        }
      }
      importance[static_cast<std::size_t>(g * layout.inputs + j)] =
          static_cast<float>(sum / static_cast<double>(channels_of(layout, g)));
    }
  }
  return importance;
}

std::vector<std::uint8_t> top_blocks(std::span<const float> importance, double sparsity) {
  std::vector<std::int64_t> order(importance.size());
  std::iota(order.begin(), order.end(), std::int64_t{0});
  const auto value = [&](std::int64_t block) {
    const float v = importance[static_cast<std::size_t>(block)];
    return std::isnan(v) ? -1.0f : v;  // importance is never negative
  };
  const std::int64_t kept = kept_blocks(static_cast<std::int64_t>(importance.size()), sparsity);
  std::nth_element(order.begin(), order.begin() + kept, order.end(),
                   [&](std::int64_t a, std::int64_t b) {
                     return value(a) != value(b) ? value(a) > value(b) : a < b;
                   });

  std::vector<std::uint8_t> mask(importance.size(), 0);
  for (std::int64_t i = 0; i < kept; ++i) {
    mask[static_cast<std::size_t>(order[static_cast<std::size_t>(i)])] = 1;
  }
  return mask;
}

std::vector<std::uint8_t> top_blocks_of_rows(std::span<const float> importance, std::int64_t rows,
                                             double sparsity) {
  const auto blocks = static_cast<std::int64_t>(importance.size());
  if (rows < 1 ? blocks != 0 : blocks % rows != 0) {
    fail(ErrorCode::usage, "importance: ", blocks, " blocks, expected a multiple of ", rows,
         " rows");
  }
  std::vector<std::uint8_t> mask;
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto inputs = static_cast<std::size_t>(blocks / rows);
    const auto kept =
        top_blocks(importance.subspan(static_cast<std::size_t>(row) * inputs, inputs), sparsity);
    mask.insert(mask.end(), kept.begin(), kept.end());
  }
  return mask;
}

void apply_mask(std::span<float> weights, std::span<const std::uint8_t> block_mask,
                const BlockLayout& layout) {
  check_layout(layout, weights.size());
  for (std::int64_t k = 0; k < layout.channels; ++k) {
    for (std::int64_t j = 0; j < layout.inputs; ++j) {
      const std::int64_t block = k / layout.vector * layout.inputs + j;
      if (block_mask[static_cast<std::size_t>(block)] == 0) {
        weights[static_cast<std::size_t>(k * layout.inputs + j)] = 0.0f;
      }
    }
  }
}

Migration count_migration(std::span<const std::uint8_t> before, std::span<const std::uint8_t> after,
                          const BlockLayout& layout) {
  Migration migration;
  for (std::int64_t block = 0; block < layout.blocks(); ++block) {
    const bool was = before[static_cast<std::size_t>(block)] != 0;
    const bool is = after[static_cast<std::size_t>(block)] != 0;
    migration.entered += is && !was ? 1 : 0;
    migration.left += was && !is ? 1 : 0;
    migration.kept += is ? 1 : 0;
    if (is) migration.kept_weights += channels_of(layout, block / layout.inputs);
  }
  return migration;
}

}  // namespace winnow
