#include "quantize/clustering.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "quantize/codebook_fit.h"
#include "runtime/base/error.h"

namespace winnow {
namespace {

void require_sound(std::span<const float> weights, std::span<const std::uint8_t> kept,
                   const ClusteringOptions& options) {
  if (options.centroids < 2 || options.centroids > 256) {
    fail(ErrorCode::usage, "clustering: ", options.centroids, " centroids, expected 2 to 256");
  }
  if (!kept.empty() && kept.size() != weights.size()) {
    fail(ErrorCode::usage, "clustering: mask of ", kept.size(), " for ", weights.size(),
         " weights");
  }
  if (std::any_of(weights.begin(), weights.end(), [](float w) { return !std::isfinite(w); })) {
    fail(ErrorCode::usage, "clustering: a weight is not finite");
  }
}

void require_channels(std::size_t weights, std::int64_t channels) {
  const bool fits = channels >= 1 && weights % static_cast<std::size_t>(channels) == 0;
  if (!fits) fail(ErrorCode::usage, "clustering: ", weights, " weights of ", channels, " channels");
}

std::vector<Half> halves(const std::vector<float>& values) {
  std::vector<Half> result(values.size());
  std::transform(values.begin(), values.end(), result.begin(), to_half);
  return result;
}

// Codebook and codes; masked weights keep code 0.
void take_codes(Clustering& result, const KeptWeights& weights, const CodebookFit& fit,
                std::span<const std::uint8_t> kept) {
  const std::vector<Half> centroids = halves(fit.centroids);
  std::copy(centroids.begin(), centroids.end(), result.codebook.begin() + 1);
  const std::vector<std::uint8_t> nearest = nearest_centroids(weights, fit);
  std::size_t next = 0;
  for (std::size_t i = 0; i < result.codes.size(); ++i) {
    if (kept.empty() || kept[i] != 0)
      result.codes[i] = static_cast<std::uint8_t>(nearest[next++] + 1);
  }
  result.error = fit.error;
}

Clustering nothing_kept(std::size_t weights, const ClusteringOptions& options) {
  return {std::vector<Half>(static_cast<std::size_t>(options.centroids)),
          std::vector<std::uint8_t>(weights, 0),
          {},
          0};
}

}  // namespace

Clustering cluster_weights(std::span<const float> weights, std::span<const std::uint8_t> kept,
                           const ClusteringOptions& options) {
  require_sound(weights, kept, options);
  Clustering result = nothing_kept(weights.size(), options);
  const KeptWeights values = gather_kept(weights, kept, 1);
  if (values.values.empty()) return result;
  take_codes(result, values, fit_centroids(values, {1.0f}, options.centroids - 1, options.refine),
             kept);
  return result;
}

Clustering cluster_channels(std::span<const float> weights, std::span<const std::uint8_t> kept,
                            std::int64_t channels, const ClusteringOptions& options) {
  require_sound(weights, kept, options);
  require_channels(weights.size(), channels);
  Clustering result = nothing_kept(weights.size(), options);
  const KeptWeights values = gather_kept(weights, kept, channels);
  result.channel_scale.resize(values.channels());
  if (values.values.empty()) return result;
  const CodebookFit fit = fit_scales_and_centroids(values, options.centroids - 1, options.refine);
  take_codes(result, values, fit, kept);
  result.channel_scale = halves(fit.scale);
  return result;
}

double worthwhile_gain(std::int64_t channels, std::int64_t kept_weights) {
  const double decibels_per_bit = 20 * std::log10(2.0);
  return decibels_per_bit * 16 * static_cast<double>(channels) / static_cast<double>(kept_weights);
}

}  // namespace winnow
