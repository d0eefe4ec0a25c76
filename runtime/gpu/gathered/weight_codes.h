// Weights of a codebook as codes of four bits: a quarter of the bytes that kernels load. Pure host
// code.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "runtime/base/half.h"
#include "runtime/gpu/gathered/centroid_table.h"
#include "runtime/gpu/gathered/gathered_groups.h"
#include "runtime/model/csr.h"

namespace winnow {

// What weights are made of: code c stands for centroid[c], times the factor of the output channel.
struct WeightCodebook {
  std::vector<Half> centroid;  // at most kMostCentroids, all different, one of them 0
  std::vector<float> scale;    // [channels]
};

// A weight whose values are centroids, without the factors of channels.
struct CodedGroups {
  GatheredGroups groups;
  WeightCodebook codebook;
};

// The weight by groups with its codebook; nothing where it has none, or one that has more than
// kMostCentroids different entries, 0 included.
std::optional<CodedGroups> coded_groups(const CsrWeight& weight, const Conv& conv);

// The bytes of at most kMostCentroids half floats, others 0. Throws Error{usage} for more.
CentroidTable centroid_table(std::span<const Half> centroids);

// The codes of half floats.
class WeightCodes {
 public:
  WeightCodes() = default;
  explicit WeightCodes(std::span<const Half> centroids);

  // Throws Error{usage} if the value is no centroid.
  std::uint32_t of(Half value) const;

 private:
  std::vector<Half> centroids_;
};

}  // namespace winnow
