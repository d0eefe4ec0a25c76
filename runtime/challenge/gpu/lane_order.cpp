#include "runtime/challenge/gpu/lane_order.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <utility>

namespace winnow::challenge {
namespace {

constexpr std::uint32_t kMostClasses = 8;
constexpr std::size_t kWindow = 256;  // outputs among which a group's members are sought

using Counts = std::array<std::int32_t, kMostClasses>;  // rows per class

class Orderer {
 public:
  Orderer(const SparseLayer& layer, std::span<const std::uint32_t> position, std::uint32_t classes)
      : layer_(layer), position_(position), classes_(classes), counts_(layer.outputs()) {
    for (std::uint32_t j = 0; j < layer.outputs(); ++j) {
      for (std::uint32_t k = layer.row_begin[j]; k < layer.row_begin[j + 1]; ++k) {
        ++counts_[j][class_of(k)];
      }
    }
  }

  // Outputs from the longest to the shortest, in groups whose rows are spread over the classes.
  std::vector<std::uint32_t> grouped_outputs() const {
    std::vector<std::uint32_t> sorted(layer_.outputs());
    std::iota(sorted.begin(), sorted.end(), 0u);
    std::stable_sort(sorted.begin(), sorted.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return length(a) > length(b); });
    if (classes_ == 1) return sorted;
    std::vector<std::uint32_t> grouped;
    grouped.reserve(sorted.size());
    std::vector<std::uint32_t> window;
    std::size_t next = 0;
    while (grouped.size() < sorted.size()) {
      while (window.size() < kWindow && next < sorted.size()) window.push_back(sorted[next++]);
      append_group(window, grouped);
    }
    return grouped;
  }

  // Orders the connections of the lanes of one group; lists[i] of a lane becomes as long as
  // `length` with kNoOutput for pads.
  void order_group(std::span<const std::uint32_t> lanes, std::uint32_t length,
                   std::vector<std::vector<std::uint32_t>>& lists) const {
    std::vector<Lane> left;
    for (const std::uint32_t output : lanes) left.push_back(lane_of(output, length));
    for (std::uint32_t k = 0; k < length; ++k) {
      std::array<bool, kMostClasses> is_used{};
      for (const std::uint32_t i : by_urgency(left)) {
        const std::uint32_t chosen = choose(left, i, is_used);
        if (chosen < classes_) is_used[chosen] = true;
        lists[i].push_back(take(left[i], chosen));
      }
    }
  }

  std::uint32_t class_of(std::uint32_t connection) const {
    return position_[layer_.input[connection]] % classes_;
  }
  std::uint32_t length(std::uint32_t output) const {
    return layer_.row_begin[output + 1] - layer_.row_begin[output];
  }

 private:
  struct Lane {
    std::array<std::vector<std::uint32_t>, kMostClasses> by_class;  // connections not yet placed
    std::uint32_t remaining = 0;
    std::uint32_t pads = 0;
  };

  // Starts with the first of `window` and adds whoever levels the classes best.
  void append_group(std::vector<std::uint32_t>& window, std::vector<std::uint32_t>& grouped) const {
    Counts total = counts_[window.front()];
    grouped.push_back(window.front());
    window.erase(window.begin());
    for (std::uint32_t m = 1; m < classes_ && !window.empty(); ++m) {
      std::size_t best = 0;
      std::int64_t best_score = std::numeric_limits<std::int64_t>::max();
      for (std::size_t i = 0; i < window.size(); ++i) {
        const std::int64_t score = unevenness(total, counts_[window[i]]);
        if (score < best_score) best_score = score, best = i;
      }
      for (std::uint32_t c = 0; c < classes_; ++c) total[c] += counts_[window[best]][c];
      grouped.push_back(window[best]);
      window.erase(window.begin() + static_cast<std::ptrdiff_t>(best));
    }
  }

  // classes^2 times the variance of the sums, up to a factor.
  std::int64_t unevenness(const Counts& a, const Counts& b) const {
    std::int64_t sum = 0, squares = 0;
    for (std::uint32_t c = 0; c < classes_; ++c) {
      const std::int64_t n = a[c] + b[c];
      sum += n;
      squares += n * n;
    }
    return squares * classes_ - sum * sum;
  }

  Lane lane_of(std::uint32_t output, std::uint32_t length) const {
    Lane lane;
    lane.pads = length;
    if (output == kNoOutput) return lane;
    for (std::uint32_t k = layer_.row_begin[output]; k < layer_.row_begin[output + 1]; ++k) {
      lane.by_class[class_of(k)].push_back(k);
    }
    lane.remaining = this->length(output);
    lane.pads -= lane.remaining;
    return lane;
  }

  // Lanes with the fewest classes to choose from come first.
  std::vector<std::uint32_t> by_urgency(const std::vector<Lane>& lanes) const {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> keyed;
    for (std::uint32_t i = 0; i < lanes.size(); ++i) {
      std::uint32_t choices = lanes[i].pads > 0 ? classes_ : 0;
      for (std::uint32_t c = 0; c < classes_; ++c) choices += !lanes[i].by_class[c].empty();
      keyed.emplace_back(choices, i);
    }
    std::sort(keyed.begin(), keyed.end());
    std::vector<std::uint32_t> order;
    for (const auto& [choices, i] : keyed) order.push_back(i);
    return order;
  }

  // The free class that most rows wait for, or classes_ for a pad, or, where no class is free, the
  // fullest.
  std::uint32_t choose(const std::vector<Lane>& lanes, std::uint32_t i,
                       const std::array<bool, kMostClasses>& is_used) const {
    std::uint32_t best = classes_;
    std::size_t best_score = 0;
    for (std::uint32_t c = 0; c < classes_; ++c) {
      if (is_used[c] || lanes[i].by_class[c].empty()) continue;
      std::size_t waiting = 0;
      for (const Lane& lane : lanes) waiting += lane.by_class[c].size();
      const std::size_t score = waiting * 4 + lanes[i].by_class[c].size() * 8;
      if (score > best_score) best_score = score, best = c;
    }
    if (best < classes_ || lanes[i].pads > 0) return best;
    best = 0;
    for (std::uint32_t c = 1; c < classes_; ++c) {
      if (lanes[i].by_class[c].size() > lanes[i].by_class[best].size()) best = c;
    }
    return best;
  }

  std::uint32_t take(Lane& lane, std::uint32_t chosen) const {
    if (chosen == classes_) {
      --lane.pads;
      return kNoOutput;
    }
    const std::uint32_t connection = lane.by_class[chosen].back();
    lane.by_class[chosen].pop_back();
    --lane.remaining;
    return connection;
  }

  const SparseLayer& layer_;
  std::span<const std::uint32_t> position_;
  std::uint32_t classes_;
  std::vector<Counts> counts_;
};

// Pads read a row of a class that no other lane of the group reads, where there is one.
void place(LaneOrder& order, const SparseLayer& layer, std::span<const std::uint32_t> position,
           std::uint32_t classes, std::size_t base, std::uint32_t length,
           const std::vector<std::vector<std::uint32_t>>& lists) {
  for (std::uint32_t k = 0; k < length; ++k) {
    std::array<std::uint32_t, kMostClasses> readers{};
    for (const auto& list : lists) {
      if (list[k] != kNoOutput) ++readers[position[layer.input[list[k]]] % classes];
    }
    std::uint32_t most = *std::max_element(readers.begin(), readers.end());
    for (std::size_t i = 0; i < lists.size(); ++i) {
      const std::size_t at = base + std::size_t{k} * kLanes + i;
      if (lists[i][k] != kNoOutput) {
        order.row[at] = position[layer.input[lists[i][k]]];
        order.value[at] = layer.value[lists[i][k]];
        continue;
      }
      auto* const free = std::min_element(readers.begin(), readers.begin() + classes);
      const auto pad_class = static_cast<std::uint32_t>(free - readers.begin());
      ++*free;
      most = std::max(most, *free);
      order.row[at] = pad_class < layer.inputs ? pad_class : 0;
    }
    ++order.accesses;
    order.passes += std::max(most, 1u);
  }
}

}  // namespace

std::vector<std::uint32_t> outputs_of_lanes(const SparseLayer& layer,
                                            std::span<const std::uint32_t> position,
                                            std::uint32_t classes) {
  std::vector<std::uint32_t> output = Orderer(layer, position, classes).grouped_outputs();
  while (output.size() % kLanes != 0) output.push_back(kNoOutput);
  return output;
}

LaneOrder order_lanes(const SparseLayer& layer, std::span<const std::uint32_t> position,
                      std::vector<std::uint32_t> output, std::uint32_t classes,
                      std::uint32_t unroll) {
  const Orderer orderer(layer, position, classes);
  LaneOrder order;
  order.output = std::move(output);
  order.slice_begin.push_back(0);
  const std::uint32_t multiple = kStep * unroll;
  for (std::size_t first = 0; first < order.output.size(); first += kLanes) {
    std::uint32_t longest = 0;
    for (std::size_t i = first; i < first + kLanes; ++i) {
      if (order.output[i] != kNoOutput)
        longest = std::max(longest, orderer.length(order.output[i]));
    }
    const std::uint32_t length = (longest + multiple - 1) / multiple * multiple;
    const std::size_t begin = order.slice_begin.back();
    order.row.resize(begin + std::size_t{length} * kLanes);
    order.value.resize(order.row.size(), 0.0f);
    for (std::uint32_t lane = 0; lane < kLanes; lane += classes) {
      std::vector<std::vector<std::uint32_t>> lists(classes);
      orderer.order_group(std::span(order.output).subspan(first + lane, classes), length, lists);
      place(order, layer, position, classes, begin + lane, length, lists);
    }
    order.steps.push_back(length / kStep);
    order.slice_begin.push_back(static_cast<std::uint32_t>(order.row.size()));
  }
  return order;
}

std::vector<std::uint32_t> positions_of(std::span<const std::uint32_t> output_of_lane,
                                        std::uint32_t outputs) {
  std::vector<std::uint32_t> position(outputs);
  for (std::uint32_t i = 0; i < output_of_lane.size(); ++i) {
    if (output_of_lane[i] != kNoOutput) position[output_of_lane[i]] = i;
  }
  return position;
}

}  // namespace winnow::challenge
