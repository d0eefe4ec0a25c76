// Centroids and channel scales for the weights of a layer: the parts of a clustering.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace winnow {

// The weights that a mask keeps, channel after channel.
struct KeptWeights {
  std::vector<float> values;
  std::vector<std::size_t> begin;  // [channels + 1]

  std::size_t channels() const { return begin.size() - 1; }
};

//   weights  [channels, weights per channel]
//   kept     [weights] 1 keeps; empty keeps all
KeptWeights gather_kept(std::span<const float> weights, std::span<const std::uint8_t> kept,
                        std::int64_t channels);

// What weights become: scale of the channel times the centroid that is nearest then (the lower on a
// tie).
struct CodebookFit {
  std::vector<float> centroids;  // fp16 numbers, strictly rising
  std::vector<float> scale;      // [channels] fp16 numbers, not negative
  double error = 0;              // sum of (weight - scale * centroid)^2
};

// The best centroids for given scales. They start as the optimal clusters (optimal_runs.h) of
// weight / scale rounded to fp16, each weighed with scale^2, which makes its squared error that of
// the weight; `refine` goes on with the weights themselves until the error stops falling (Lloyd,
// "Least squares quantization in PCM", 1982). Magnitudes beyond fp16 count as its largest number.
CodebookFit fit_centroids(const KeptWeights& kept, std::vector<float> scale, int centroids,
                          bool refine);

// Centroids and scales together. From the root mean squares of the channels on, centroids are
// fitted to the scales and scales to the centroids in turns, each the least squares solution, until
// that lowers the error by less than a thousandth. The largest scale begins between 1 and 2, so
// that scales down to 2^-14 of it have all digits of fp16. A channel of zeros has scale 0.
CodebookFit fit_scales_and_centroids(const KeptWeights& kept, int centroids, bool refine);

// Number of the centroid that each kept weight takes, [kept.values].
std::vector<std::uint8_t> nearest_centroids(const KeptWeights& kept, const CodebookFit& fit);

}  // namespace winnow
