#include "prune/training/channels/channel_groups.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace winnow {
namespace {

constexpr int kTurns = 50;
constexpr double kLeastGain = 1e-6;  // of a kept share

using Order = std::vector<std::int64_t>;

std::size_t at(std::int64_t i) {
  return static_cast<std::size_t>(i);
}

double sum_of(const std::vector<float>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

// [groups][places]: the sums of blocks.
std::vector<double> block_sums(const ComputedChannels& layer, std::span<const std::int64_t> order,
                               std::int64_t vector) {
  const std::size_t places = layer.squares.size() / order.size();
  const std::size_t size = at(vector), groups = (order.size() + size - 1) / size;
  std::vector<double> sums(groups * places, 0.0);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const float* row = layer.squares.data() + at(order[i]) * places;
    double* sum = sums.data() + i / size * places;
    for (std::size_t j = 0; j < places; ++j) sum[j] += static_cast<double>(row[j]);
  }
  return sums;
}

// Indices of the blocks that are kept, ascending.
std::vector<std::size_t> largest_blocks(const std::vector<double>& sums, double density) {
  std::vector<std::size_t> blocks(sums.size());
  std::iota(blocks.begin(), blocks.end(), std::size_t{0});
  const auto wanted = std::llround(density * static_cast<double>(sums.size()));
  const auto count = static_cast<std::ptrdiff_t>(
      std::clamp<long long>(wanted, 1, static_cast<long long>(sums.size())));
  const auto is_larger = [&](std::size_t a, std::size_t b) {
    return sums[a] != sums[b] ? sums[a] > sums[b] : a < b;
  };
  if (at(count) < sums.size()) {
    std::nth_element(blocks.begin(), blocks.begin() + count, blocks.end(), is_larger);
  }
  blocks.resize(at(count));
  std::sort(blocks.begin(), blocks.end());
  return blocks;
}

// What each channel would keep in each group, with the blocks that the order keeps now.
class Gains {
 public:
  Gains(std::span<const ComputedChannels> layers, const Order& order, std::int64_t vector)
      : groups_((order.size() + at(vector) - 1) / at(vector)),
        values_(order.size() * groups_, 0.0) {
    for (const ComputedChannels& layer : layers) add(layer, order, vector);
  }

  double operator()(std::int64_t channel, std::size_t group) const {
    return values_[at(channel) * groups_ + group];
  }

 private:
  void add(const ComputedChannels& layer, const Order& order, std::int64_t vector) {
    const double all = sum_of(layer.squares);
    if (!(all > 0.0)) return;
    const std::size_t places = layer.squares.size() / order.size();
    std::vector<std::pair<std::size_t, std::size_t>> kept;  // group and place
    for (const std::size_t block :
         largest_blocks(block_sums(layer, order, vector), layer.density)) {
      kept.emplace_back(block / places, block % places);
    }
    for (std::size_t c = 0; c < order.size(); ++c) {
      const float* row = layer.squares.data() + c * places;
      double* gains = values_.data() + c * groups_;
      for (const auto& [group, place] : kept) gains[group] += static_cast<double>(row[place]) / all;
    }
  }

  std::size_t groups_;
  std::vector<double> values_;  // [channels][groups]
};

// The place whose channel gains most from a change with that at `a`; `a` if none gains.
std::size_t best_partner(const Gains& gains, const Order& order, std::size_t a,
                         std::size_t vector) {
  std::size_t best = a;
  double most = kLeastGain / static_cast<double>(order.size());
  const double own = gains(order[a], a / vector);
  for (std::size_t b = 0; b < order.size(); ++b) {
    const double gain = gains(order[a], b / vector) + gains(order[b], a / vector) - own -
                        gains(order[b], b / vector);
    if (gain <= most) continue;
    most = gain;
    best = b;
  }
  return best;
}

// Until no exchange of two channels gains.
void exchange(const Gains& gains, std::size_t vector, Order& order) {
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (std::size_t a = 0; a < order.size(); ++a) {
      const std::size_t b = best_partner(gains, order, a, vector);
      if (b == a) continue;
      std::swap(order[a], order[b]);
      has_changed = true;
    }
  }
}

double total_share(std::span<const ComputedChannels> layers, const Order& order,
                   std::int64_t vector) {
  double total = 0.0;
  for (const ComputedChannels& layer : layers) total += kept_share(layer, order, vector);
  return total;
}

// Channels of a group in their old order: which group one is in is all that counts.
void sort_groups(std::size_t vector, Order& order) {
  for (std::size_t first = 0; first < order.size(); first += vector) {
    const std::size_t last = std::min(first + vector, order.size());
    std::sort(order.begin() + static_cast<std::ptrdiff_t>(first),
              order.begin() + static_cast<std::ptrdiff_t>(last));
  }
}

// Of two channels, summed over the layers: large where they have their large weights at the same
// places.
double likeness(std::span<const ComputedChannels> layers, std::int64_t channels, std::int64_t a,
                std::int64_t b) {
  double sum = 0.0;
  for (const ComputedChannels& layer : layers) {
    const std::size_t places = layer.squares.size() / at(channels);
    const float *x = layer.squares.data() + at(a) * places,
                *y = layer.squares.data() + at(b) * places;
    double xy = 0.0, xx = 0.0, yy = 0.0;
    for (std::size_t j = 0; j < places; ++j) {
      const auto u = static_cast<double>(x[j]), v = static_cast<double>(y[j]);
      xy += u * v;
      xx += u * u;
      yy += v * v;
    }
    if (xx > 0.0 && yy > 0.0) sum += xy / std::sqrt(xx * yy);
  }
  return sum;
}

// Groups of the first channel that is left and those that are most like it.
Order order_by_likeness(std::span<const ComputedChannels> layers, std::int64_t channels,
                        std::int64_t vector) {
  Order order(at(channels));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::vector<double> alike(at(channels));
  for (std::int64_t first = 0; first + vector < channels; first += vector) {
    const std::int64_t leader = order[at(first)];
    for (std::int64_t i = first + 1; i < channels; ++i) {
      alike[at(order[at(i)])] = likeness(layers, channels, leader, order[at(i)]);
    }
    std::stable_sort(order.begin() + first + 1, order.end(),
                     [&](std::int64_t a, std::int64_t b) { return alike[at(a)] > alike[at(b)]; });
    std::sort(order.begin() + first + vector, order.end());
  }
  return order;
}

// Takes turns until neither gains. Returns the sum of the kept shares.
double improve(std::span<const ComputedChannels> layers, std::int64_t vector, Order& best) {
  double most = total_share(layers, best, vector);
  for (int turn = 0; turn < kTurns; ++turn) {
    Order order = best;
    exchange(Gains(layers, order, vector), at(vector), order);
    const double share = total_share(layers, order, vector);
    if (share <= most + kLeastGain) break;
    most = share;
    best = std::move(order);
  }
  return most;
}

}  // namespace

double kept_share(const ComputedChannels& layer, std::span<const std::int64_t> order,
                  std::int64_t vector) {
  const std::vector<double> sums = block_sums(layer, order, vector);
  const double all = std::accumulate(sums.begin(), sums.end(), 0.0);
  double kept = 0.0;
  for (const std::size_t block : largest_blocks(sums, layer.density)) kept += sums[block];
  return all > 0.0 ? kept / all : 1.0;
}

std::vector<std::int64_t> grouped_order(std::span<const ComputedChannels> layers,
                                        std::int64_t channels, std::int64_t vector) {
  Order best(at(channels));
  std::iota(best.begin(), best.end(), std::int64_t{0});
  if (layers.empty() || channels <= vector) return best;
  const double as_they_are = improve(layers, vector, best);
  Order alike = order_by_likeness(layers, channels, vector);
  if (improve(layers, vector, alike) > as_they_are + kLeastGain) best = std::move(alike);
  sort_groups(at(vector), best);
  return best;
}

}  // namespace winnow
