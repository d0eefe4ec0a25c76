#include "prune/methods/group_cut.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace winnow {
namespace {

constexpr int kHalvings = 100;  // more than a double has bits

std::vector<std::uint8_t> living(const std::vector<double>& norms) {
  std::vector<std::uint8_t> kept;
  for (const double norm : norms) kept.push_back(norm != 0.0 ? 1 : 0);  // NaN stays
  if (!kept.empty() && std::find(kept.begin(), kept.end(), 1) == kept.end()) kept.front() = 1;
  return kept;
}

std::int64_t count(const std::vector<std::uint8_t>& kept) {
  return std::count(kept.begin(), kept.end(), std::uint8_t{1});
}

// The part of a layer that is cut: its groups of one kind, largest first.
struct Cut {
  std::vector<std::uint8_t>* kept = nullptr;
  std::vector<std::size_t> order = {};  // living groups
  std::vector<double> scores = {};      // in this order
  std::size_t least = 1, most = 0;      // groups that may stay
  double weights_per_group = 0.0;

  std::size_t above(double threshold) const {
    const auto end = std::partition_point(scores.begin(), scores.end(),
                                          [&](double score) { return score > threshold; });
    return std::clamp(static_cast<std::size_t>(end - scores.begin()), least, most);
  }

  void keep(std::size_t number) const {
    std::fill(kept->begin(), kept->end(), std::uint8_t{0});
    for (std::size_t i = 0; i < number; ++i) (*kept)[order[i]] = 1;
  }
};

Cut make_cut(const GroupNorms& norms, KeptGroups& kept, bool cuts_shapes,
             const PrunableLayer& layer, const LayerRange& range) {
  Cut cut;
  const bool has_shapes = cuts_shapes && !kept.shapes.empty();
  const std::vector<double>& all = has_shapes ? norms.shapes : norms.filters;
  cut.kept = has_shapes ? &kept.shapes : &kept.filters;
  for (std::size_t i = 0; i < cut.kept->size(); ++i) {
    if ((*cut.kept)[i] != 0) cut.order.push_back(i);
  }
  std::stable_sort(cut.order.begin(), cut.order.end(),
                   [&](std::size_t a, std::size_t b) { return all[a] > all[b]; });
  const std::size_t living = cut.order.size();
  if (living == 0) return cut;
  const auto now = static_cast<double>(weights_kept(layer, kept));
  cut.weights_per_group = now / static_cast<double>(living);
  double sum = 0.0;
  for (const std::size_t i : cut.order) sum += all[i];
  for (const std::size_t i : cut.order) {
    cut.scores.push_back(sum > 0.0 ? all[i] / sum * static_cast<double>(living) : 0.0);
  }
  const auto weights = static_cast<double>(layer.weights);
  const auto groups_of = [&](double share) { return share * weights / cut.weights_per_group; };
  const double least = std::ceil(groups_of(1.0 - range.max) - 1e-9);
  const double most = std::floor(groups_of(1.0 - range.min) + 1e-9);
  cut.most = std::clamp(static_cast<std::size_t>(std::max(1.0, most)), std::size_t{1}, living);
  cut.least = std::clamp(static_cast<std::size_t>(std::max(1.0, least)), std::size_t{1}, cut.most);
  if (range.excluded) cut.least = cut.most = living;
  return cut;
}

}  // namespace

std::vector<KeptGroups> living_groups(std::span<const GroupNorms> norms) {
  std::vector<KeptGroups> kept;
  for (const GroupNorms& layer : norms)
    kept.push_back({living(layer.filters), living(layer.shapes)});
  return kept;
}

std::int64_t weights_kept(const PrunableLayer& layer, const KeptGroups& kept) {
  const std::int64_t shapes = kept.shapes.empty() ? layer.weights_per_block : count(kept.shapes);
  const std::int64_t filters = kept.filters.empty()
                                   ? layer.weights / static_cast<std::int64_t>(kept.shapes.size())
                                   : count(kept.filters);
  return filters * shapes;
}

std::vector<KeptGroups> cut_groups(std::span<const GroupNorms> norms,
                                   std::vector<KeptGroups> living, bool cuts_shapes, double density,
                                   std::span<const std::int64_t> most, const LayerBudget& budget) {
  std::vector<Cut> cuts;
  double largest = 0.0;
  for (std::size_t i = 0; i < budget.size(); ++i) {
    cuts.push_back(make_cut(norms[i], living[i], cuts_shapes, budget.layer(i), budget.range(i)));
    if (!cuts[i].scores.empty()) largest = std::max(largest, cuts[i].scores.front());
  }
  const auto density_at = [&](double threshold) {
    std::vector<std::int64_t> kept;
    for (std::size_t i = 0; i < cuts.size(); ++i) {
      const double weights =
          cuts[i].weights_per_group *
          static_cast<double>(cuts[i].order.empty() ? 0 : cuts[i].above(threshold));
      const std::int64_t planned = static_cast<std::int64_t>(std::llround(weights));
      kept.push_back(cuts[i].order.empty() ? most[i] : std::min(planned, most[i]));
    }
    return budget.density(kept);
  };
  double low = -1.0, high = largest;
  if (density_at(low) > density) {
    for (int i = 0; i < kHalvings; ++i) {
      const double middle = low + (high - low) / 2;
      (density_at(middle) <= density ? high : low) = middle;
    }
  } else {
    high = low;
  }
  for (const Cut& cut : cuts) {
    if (!cut.order.empty()) cut.keep(cut.above(high));
  }
  return living;
}

}  // namespace winnow
