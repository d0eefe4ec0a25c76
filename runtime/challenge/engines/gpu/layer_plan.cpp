#include "runtime/challenge/engines/gpu/layer_plan.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <set>

namespace winnow::challenge {

std::uint32_t full_precision_layers(std::uint32_t neurons) {
  constexpr std::uint32_t kFewest = 6;
  if (neurons <= 16) return kFewest;
  return std::max(kFewest, static_cast<std::uint32_t>(std::bit_width((neurons - 1) / 16)));
}

std::uint32_t first_half_layer(const EngineOptions& options, std::uint32_t neurons,
                               std::uint32_t layers) {
  if (!options.use_half) return layers;
  if (options.full_precision_layers < 0) return std::min(full_precision_layers(neurons), layers);
  return std::min(static_cast<std::uint32_t>(options.full_precision_layers), layers);
}

std::vector<FusedLaunch> plan_resident_launches(std::uint32_t layers, std::uint32_t half_from) {
  std::set<std::uint32_t> borders = {0, layers, std::min(half_from, layers)};
  for (std::uint32_t l = 2; l <= 8; ++l) borders.insert(std::min(l, layers));
  for (const std::uint32_t l : {10u, 12u}) borders.insert(std::min(l, layers));
  for (std::uint32_t l = 16; l < layers; l *= 2) {
    borders.insert(l);
    borders.insert(std::min(l + l / 2, layers));
  }
  std::vector<FusedLaunch> launches;
  for (auto end = std::next(borders.begin()); end != borders.end(); ++end) {
    const std::uint32_t first = *std::prev(end);
    launches.push_back({first, *end, first >= half_from});
  }
  return launches;
}

std::vector<FusedLaunch> join_launches(std::span<const FusedLaunch> launches,
                                       std::span<const std::uint32_t> live, std::uint32_t blocks,
                                       const LaunchCosts& full, const LaunchCosts& half) {
  // cheapest[p]: of the launches before p; begin[p]: where the last of these begins.
  std::vector<double> cheapest(launches.size() + 1, std::numeric_limits<double>::infinity());
  std::vector<std::size_t> begin(launches.size() + 1);
  cheapest[0] = 0;
  for (std::size_t first = 0; first < launches.size(); ++first) {
    const LaunchCosts& costs = launches[first].is_half ? half : full;
    const std::uint32_t tiles = (live[first] + costs.images - 1) / costs.images;
    const std::uint32_t rounds = (tiles + blocks - 1) / blocks;
    for (std::size_t last = first; last < launches.size(); ++last) {
      if (launches[last].is_half != launches[first].is_half) break;
      const std::uint32_t layers = launches[last].last - launches[first].first;
      const double cost =
          cheapest[first] + costs.launch + rounds * (costs.border + layers * costs.layer);
      if (cost >= cheapest[last + 1]) continue;
      cheapest[last + 1] = cost;
      begin[last + 1] = first;
    }
  }
  std::vector<FusedLaunch> joined;
  for (std::size_t end = launches.size(); end > 0; end = begin[end]) {
    const FusedLaunch& first = launches[begin[end]];
    joined.push_back({first.first, launches[end - 1].last, first.is_half});
  }
  std::ranges::reverse(joined);
  return joined;
}

bool gathered_drops_at(std::uint32_t done, std::uint32_t layers, std::uint32_t half_from) {
  constexpr std::uint32_t kEach = 16;
  if (done <= kEach || done == layers || done == half_from) return true;
  return std::has_single_bit(done) || (done % 3 == 0 && std::has_single_bit(done / 3));
}

bool grouped_drops_at(std::uint32_t done, std::uint32_t layers, std::uint32_t multilayer_from) {
  constexpr std::uint32_t kEach = 10;
  if (done == layers || done == multilayer_from) return true;
  return done > 1 && (done <= kEach || done == 12 || std::has_single_bit(done));
}

}  // namespace winnow::challenge
