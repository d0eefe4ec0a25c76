#include "runtime/gpu/gathered/weight_codes.h"

#include <algorithm>
#include <utility>

#include "runtime/base/error.h"

namespace winnow {
namespace {

constexpr Half kZero = {0};

// -0 and 0 are one.
Half canonical(Half value) {
  return to_float(value) == 0 ? kZero : value;
}

// The different entries, and 0 first: places without a weight have it.
std::vector<Half> centroids_of(const Values& values) {
  std::vector<Half> found = {kZero};
  for (const Half entry : values.codebook) {
    const Half value = canonical(entry);
    if (std::ranges::find(found, value) == found.end()) found.push_back(value);
  }
  return found;
}

std::vector<float> scales_of(const CsrWeight& weight) {
  std::vector<float> scales(static_cast<std::size_t>(weight.channels), 1.0f);
  const auto& stored = weight.values.channel_scale;
  for (std::size_t k = 0; k < stored.size(); ++k) scales[k] = to_float(stored[k]);
  return scales;
}

CsrWeight without_scales(CsrWeight weight) {
  weight.values.channel_scale.clear();
  weight.values.lanes = 1;
  return weight;
}

}  // namespace

std::optional<CodedGroups> coded_groups(const CsrWeight& weight, const Conv& conv) {
  if (weight.values.codebook.empty()) return std::nullopt;
  std::vector<Half> centroids = centroids_of(weight.values);
  if (centroids.size() > kMostCentroids) return std::nullopt;
  return CodedGroups{gathered_groups(block_csr(without_scales(weight)), conv),
                     {std::move(centroids), scales_of(weight)}};
}

CentroidTable centroid_table(std::span<const Half> centroids) {
  if (centroids.size() > kMostCentroids) {
    fail(ErrorCode::usage, centroids.size(), " centroids, at most ", kMostCentroids, " expected");
  }
  CentroidTable table;
  for (std::size_t i = 0; i < centroids.size(); ++i) {
    const std::uint32_t bits = centroids[i].bits;
    table.low[i / 4] |= (bits & 0xff) << (i % 4 * 8);
    table.high[i / 4] |= (bits >> 8) << (i % 4 * 8);
  }
  return table;
}

WeightCodes::WeightCodes(std::span<const Half> centroids)
    : centroids_(centroids.begin(), centroids.end()) {}

std::uint32_t WeightCodes::of(Half value) const {
  const auto found = std::ranges::find(centroids_, canonical(value));
  if (found == centroids_.end()) {
    fail(ErrorCode::usage, "weight ", to_float(value), " has no code: it is none of ",
         centroids_.size(), " centroids");
  }
  return static_cast<std::uint32_t>(found - centroids_.begin());
}

}  // namespace winnow
