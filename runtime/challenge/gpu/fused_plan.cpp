#include "runtime/challenge/gpu/fused_plan.h"

#include <algorithm>
#include <bit>
#include <set>

namespace winnow::challenge {

std::uint32_t full_precision_layers(std::uint32_t neurons) {
  constexpr std::uint32_t kFewest = 6;
  if (neurons <= 16) return kFewest;
  return std::max(kFewest, static_cast<std::uint32_t>(std::bit_width((neurons - 1) / 16)));
}

std::vector<FusedPhase> plan_fused_phases(std::uint32_t layers, std::uint32_t half_from) {
  std::set<std::uint32_t> borders = {0, layers, std::min(half_from, layers)};
  for (std::uint32_t l = 2; l <= 8; ++l) borders.insert(std::min(l, layers));
  for (const std::uint32_t l : {10u, 12u}) borders.insert(std::min(l, layers));
  for (std::uint32_t l = 16; l < layers; l *= 2) {
    borders.insert(l);
    borders.insert(std::min(l + l / 2, layers));
  }
  std::vector<FusedPhase> phases;
  for (auto end = std::next(borders.begin()); end != borders.end(); ++end) {
    const std::uint32_t first = *std::prev(end);
    phases.push_back({first, *end, first >= half_from});
  }
  return phases;
}

}  // namespace winnow::challenge
