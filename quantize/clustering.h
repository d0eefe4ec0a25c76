// Weights on a few centroids (paper 003, eqs 8 and 9).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/base/half.h"

namespace winnow {

// Eq 8 and 9: centroids and which of them each weight takes.
struct Clustering {
  std::vector<Half> codebook;       // [centroids] entry 0 is 0, rising from entry 1 on
  std::vector<std::uint8_t> codes;  // [weights]
  std::vector<Half> channel_scale;  // [channels] or empty: a weight is codebook[code] times it
  double error = 0;                 // sum of squared errors of the weights
};

struct ClusteringOptions {
  int centroids = 16;  // entry 0 included; 2 to 256
  bool refine = true;  // each centroid becomes the mean of its members, as often as that helps
};

// Clusters the weights that the mask keeps.
//
//   weights  finite
//   kept     [weights] 1 keeps; empty keeps all
//
// Entry 0 is 0 and belongs to masked weights and to the padding of sparse rows alone; kept weights
// take one of the other entries, so a code says whether its weight is kept. codebook_fit.h says how
// the entries are found: optimally for the weights rounded to fp16, then refined. Stored are the
// centroids rounded to fp16; every weight takes the nearest one (the lower on a tie), so an error
// is never larger than with any other entry. A centroid may round to 0: its weights are kept, with
// the value 0. Magnitudes beyond fp16 take its largest number, 65504.
//
// Entries without members are 0, so the codebook always has `centroids` entries.
// Throws Error{usage} for options out of range, sizes that disagree or values that are not finite.
Clustering cluster_weights(std::span<const float> weights, std::span<const std::uint8_t> kept,
                           const ClusteringOptions& options = {});

// The same with a factor per channel, so that channels of all sizes share the codebook: what is
// clustered is weight / factor, and the squared error of the weights themselves is minimised over
// codebook and factors.
//
//   weights  [channels, weights per channel]
Clustering cluster_channels(std::span<const float> weights, std::span<const std::uint8_t> kept,
                            std::int64_t channels, const ClusteringOptions& options = {});

// How much lower the error of channel scales has to be, in dB, so that they are worth their 2 bytes
// a channel: one bit more per weight lowers the error of a codebook by 6.02 dB, so scales that take
// 16 channels / weights bits per weight have to lower it by that many times 6.02 dB.
double worthwhile_gain(std::int64_t channels, std::int64_t kept_weights);

}  // namespace winnow
