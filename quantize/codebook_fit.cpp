#include "quantize/codebook_fit.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "quantize/optimal_runs.h"
#include "runtime/base/half.h"

namespace winnow {
namespace {

constexpr int kMostRefinements = 100;  // each lowers the error; a few dozen reach a fixed point
constexpr int kMostRounds = 30;        // of scales and centroids in turns
constexpr double kWorthwhile = 1e-3;   // of the error

Half nearest_half(double value) {
  return to_half(std::clamp(static_cast<float>(value), -kLargestHalf, kLargestHalf));
}

// As an fp16 number. Added 0 turns -0 into 0.
float rounded(double value) {
  return to_float(nearest_half(value)) + 0.0f;
}

std::vector<float> rounded_centroids(std::span<const double> means) {
  std::vector<float> centroids;
  for (const double mean : means) centroids.push_back(rounded(mean));
  std::sort(centroids.begin(), centroids.end());
  centroids.erase(std::unique(centroids.begin(), centroids.end()), centroids.end());
  return centroids;
}

// Calls visit(channel, position in kept.values, number of the centroid) for every kept weight.
template <typename Visit>
void for_each_nearest(const KeptWeights& kept, const CodebookFit& fit, Visit visit) {
  std::vector<double> border(fit.centroids.size() - 1);
  for (std::size_t channel = 0; channel < kept.channels(); ++channel) {
    // Products of fp16 numbers and their sum: exact in double. A border belongs to the lower side.
    const double half_scale = fit.scale[channel] / 2.0;
    for (std::size_t k = 0; k < border.size(); ++k) {
      border[k] = half_scale * (static_cast<double>(fit.centroids[k]) + fit.centroids[k + 1]);
    }
    for (std::size_t i = kept.begin[channel]; i < kept.begin[channel + 1]; ++i) {
      const auto above = std::lower_bound(border.begin(), border.end(), kept.values[i]);
      visit(channel, i, static_cast<std::size_t>(above - border.begin()));
    }
  }
}

// Sums of a least squares problem: the best factor of `by` in weight = factor * by.
struct Ratio {
  double product = 0;  // sum of weight * by
  double square = 0;   // sum of by^2

  void add(double weight, double by) {
    product += weight * by;
    square += by * by;
  }
};

// What one pass over the weights tells: the error, and how to lower it.
struct Pass {
  double error = 0;
  std::vector<Ratio> centroid;  // given the scales
  std::vector<Ratio> scale;     // given the centroids
};

Pass pass_over(const KeptWeights& kept, const CodebookFit& fit) {
  Pass pass{0, std::vector<Ratio>(fit.centroids.size()), std::vector<Ratio>(kept.channels())};
  for_each_nearest(kept, fit, [&](std::size_t channel, std::size_t i, std::size_t k) {
    const double weight = kept.values[i];
    const double scale = fit.scale[channel];
    const double centroid = fit.centroids[k];
    pass.error += std::pow(weight - scale * centroid, 2);
    pass.centroid[k].add(weight, scale);
    pass.scale[channel].add(weight, centroid);
  });
  return pass;
}

// Distinct fp16 numbers next to weight / scale, with the sums of scale^2: at most 63,487.
std::vector<WeightedValue> histogram_of(const KeptWeights& kept, const std::vector<float>& scale) {
  constexpr int kZero = 0x8000;  // bits of fp16 in rising order: those below are negative
  std::vector<double> counts(2 * kZero);
  for (std::size_t channel = 0; channel < kept.channels(); ++channel) {
    const double s = scale[channel];
    for (std::size_t i = kept.begin[channel]; s > 0 && i < kept.begin[channel + 1]; ++i) {
      const int bits = nearest_half(kept.values[i] / s).bits;
      counts[static_cast<std::size_t>(bits < kZero ? kZero + bits : 2 * kZero - bits)] += s * s;
    }
  }
  std::vector<WeightedValue> values;
  for (int at = 0; at < 2 * kZero; ++at) {
    const double count = counts[static_cast<std::size_t>(at)];
    const int bits = at >= kZero ? at - kZero : 2 * kZero - at;
    if (count > 0) values.push_back({to_float({static_cast<std::uint16_t>(bits)}), count});
  }
  return values;
}

std::vector<float> optimal_centroids(const KeptWeights& kept, const std::vector<float>& scale,
                                     int clusters) {
  const std::vector<WeightedValue> values = histogram_of(kept, scale);
  const std::vector<std::size_t> begin = optimal_runs(values, clusters);
  std::vector<double> means;
  for (std::size_t i = 0; i + 1 < begin.size(); ++i) {
    double sum = 0;
    double count = 0;
    for (std::size_t j = begin[i]; j < begin[i + 1]; ++j) {
      sum += values[j].value * values[j].count;
      count += values[j].count;
    }
    means.push_back(sum / count);
  }
  if (means.empty()) means.push_back(0);  // all scales are 0
  return rounded_centroids(means);
}

void refine_centroids(const KeptWeights& kept, CodebookFit& fit) {
  Pass now = pass_over(kept, fit);
  for (int i = 0; i < kMostRefinements; ++i) {
    std::vector<double> means;
    for (const Ratio& ratio : now.centroid) {
      if (ratio.square > 0) means.push_back(ratio.product / ratio.square);
    }
    if (means.empty()) break;
    CodebookFit next{rounded_centroids(means), fit.scale, 0};
    Pass then = pass_over(kept, next);
    if (then.error >= now.error) break;
    fit.centroids = std::move(next.centroids);
    now = std::move(then);
  }
  fit.error = now.error;
}

// Root mean square of every channel, with the largest brought between 1 and 2 by a power of two.
std::vector<float> initial_scales(const KeptWeights& kept) {
  std::vector<double> size;
  for (std::size_t channel = 0; channel < kept.channels(); ++channel) {
    double squares = 0;
    const std::size_t first = kept.begin[channel], last = kept.begin[channel + 1];
    for (std::size_t i = first; i < last; ++i) squares += std::pow(kept.values[i], 2);
    size.push_back(first == last ? 0 : std::sqrt(squares / static_cast<double>(last - first)));
  }
  int exponent = 1;
  std::frexp(*std::max_element(size.begin(), size.end()), &exponent);
  std::vector<float> scale;
  for (const double s : size) scale.push_back(rounded(std::ldexp(s, 1 - exponent)));
  return scale;
}

// A factor that is not above 0 would turn centroids around; the one before is as good.
std::vector<float> refitted_scales(const KeptWeights& kept, const CodebookFit& fit) {
  std::vector<float> scale = fit.scale;
  const Pass pass = pass_over(kept, fit);
  for (std::size_t channel = 0; channel < scale.size(); ++channel) {
    const Ratio& ratio = pass.scale[channel];
    if (ratio.product > 0) scale[channel] = rounded(ratio.product / ratio.square);
  }
  return scale;
}

}  // namespace

KeptWeights gather_kept(std::span<const float> weights, std::span<const std::uint8_t> kept,
                        std::int64_t channels) {
  KeptWeights result{{}, {0}};
  const std::size_t inner = channels == 0 ? 0 : weights.size() / static_cast<std::size_t>(channels);
  for (std::size_t channel = 0; channel < static_cast<std::size_t>(channels); ++channel) {
    for (std::size_t i = channel * inner; i < (channel + 1) * inner; ++i) {
      if (kept.empty() || kept[i] != 0) result.values.push_back(weights[i]);
    }
    result.begin.push_back(result.values.size());
  }
  return result;
}

CodebookFit fit_centroids(const KeptWeights& kept, std::vector<float> scale, int centroids,
                          bool refine) {
  CodebookFit fit{optimal_centroids(kept, scale, centroids), std::move(scale), 0};
  if (refine) {
    refine_centroids(kept, fit);
  } else {
    fit.error = pass_over(kept, fit).error;
  }
  return fit;
}

CodebookFit fit_scales_and_centroids(const KeptWeights& kept, int centroids, bool refine) {
  CodebookFit best = fit_centroids(kept, initial_scales(kept), centroids, refine);
  for (int round = 0; round < kMostRounds; ++round) {
    CodebookFit next = fit_centroids(kept, refitted_scales(kept, best), centroids, refine);
    const bool is_worthwhile = next.error < best.error * (1 - kWorthwhile);
    if (next.error < best.error) best = std::move(next);
    if (!is_worthwhile) break;
  }
  return best;
}

std::vector<std::uint8_t> nearest_centroids(const KeptWeights& kept, const CodebookFit& fit) {
  std::vector<std::uint8_t> nearest(kept.values.size());
  for_each_nearest(kept, fit, [&](std::size_t, std::size_t i, std::size_t k) {
    nearest[i] = static_cast<std::uint8_t>(k);
  });
  return nearest;
}

}  // namespace winnow
