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
// take one of the other entries, so a code says whether its weight is kept. The entries start as
// optimal_runs of the kept weights rounded to fp16, each the mean of its run; refinement (Lloyd,
// "Least squares quantization in PCM", 1982) then works on the weights themselves. Stored are the
// centroids rounded to fp16; every weight takes the nearest one (the lower on a tie), so an error
// is never larger than with any other entry. A centroid may round to 0: its weights are kept, with
// the value 0. Magnitudes beyond fp16 take its largest number, 65504.
//
// Entries without members are 0, so the codebook always has `centroids` entries.
// Throws Error{usage} for options out of range, sizes that disagree or values that are not finite.
Clustering cluster_weights(std::span<const float> weights, std::span<const std::uint8_t> kept,
                           const ClusteringOptions& options = {});

}  // namespace winnow
