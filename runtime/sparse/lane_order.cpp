#include "runtime/sparse/lane_order.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <utility>

namespace winnow {
namespace {

constexpr std::uint32_t kMostBankGroups = 8;
constexpr std::size_t kWindow = 256;  // outputs among which a group's members are sought

using Counts = std::array<std::int32_t, kMostBankGroups>;  // rows per bank group

class Orderer {
 public:
  Orderer(const SparseLayer& layer, std::span<const std::uint32_t> position,
          std::uint32_t bank_groups)
      : layer_(layer), position_(position), bank_groups_(bank_groups), counts_(layer.outputs()) {
    for (std::uint32_t j = 0; j < layer.outputs(); ++j) {
      for (std::uint32_t k = layer.row_begin[j]; k < layer.row_begin[j + 1]; ++k) {
        ++counts_[j][bank_group_of(k)];
      }
    }
  }

  // Outputs from the longest to the shortest, in groups whose rows are spread over the bank groups.
  std::vector<std::uint32_t> grouped_outputs() const {
    std::vector<std::uint32_t> sorted(layer_.outputs());
    std::iota(sorted.begin(), sorted.end(), 0u);
    std::stable_sort(sorted.begin(), sorted.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return length(a) > length(b); });
    if (bank_groups_ == 1) return sorted;
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
  void order_group(std::span<const std::uint32_t> outputs, std::uint32_t length,
                   std::vector<std::vector<std::uint32_t>>& lists) const {
    std::vector<Lane> lanes;
    Waiting waiting{};
    for (const std::uint32_t output : outputs) {
      lanes.push_back(lane_of(output, length));
      for (std::uint32_t c = 0; c < bank_groups_; ++c) waiting[c] += lanes.back().left[c];
    }
    for (auto& list : lists) list.reserve(length);
    for (std::uint32_t k = 0; k < length; ++k) {
      std::array<bool, kMostBankGroups> is_used{};
      const Order order = by_urgency(lanes);
      for (std::size_t i = 0; i < lanes.size(); ++i) {
        Lane& lane = lanes[order[i] % kMostBankGroups];
        const std::uint32_t chosen = choose(lane, waiting, is_used);
        if (chosen < bank_groups_) {
          is_used[chosen] = true;
          --waiting[chosen];
        }
        lists[order[i] % kMostBankGroups].push_back(take(lane, chosen));
      }
    }
  }

  std::uint32_t bank_group_of(std::uint32_t connection) const {
    return position_[layer_.input[connection]] & (bank_groups_ - 1);  // a power of two
  }
  std::uint32_t length(std::uint32_t output) const {
    return layer_.row_begin[output + 1] - layer_.row_begin[output];
  }

 private:
  using Waiting =
      std::array<std::uint32_t, kMostBankGroups>;  // connections not yet placed, by bank group
  using Order = std::array<std::uint32_t, kMostBankGroups>;  // key * kMostBankGroups + lane

  struct Lane {
    std::vector<std::uint32_t> connection;  // by bank group, those of c from begin[c] on
    Waiting begin{}, left{};
    std::uint32_t pads = 0;
  };

  // Starts with the first of `window` and adds whoever levels the bank groups best.
  void append_group(std::vector<std::uint32_t>& window, std::vector<std::uint32_t>& grouped) const {
    Counts total = counts_[window.front()];
    grouped.push_back(window.front());
    window.erase(window.begin());
    for (std::uint32_t m = 1; m < bank_groups_ && !window.empty(); ++m) {
      std::size_t best = 0;
      std::int64_t best_score = std::numeric_limits<std::int64_t>::max();
      for (std::size_t i = 0; i < window.size(); ++i) {
        const std::int64_t score = unevenness(total, counts_[window[i]]);
        if (score < best_score) best_score = score, best = i;
      }
      for (std::uint32_t c = 0; c < bank_groups_; ++c) total[c] += counts_[window[best]][c];
      grouped.push_back(window[best]);
      window.erase(window.begin() + static_cast<std::ptrdiff_t>(best));
    }
  }

  // The square of bank_groups times the variance of the sums, up to a factor.
  std::int64_t unevenness(const Counts& a, const Counts& b) const {
    std::int64_t sum = 0, squares = 0;
    for (std::uint32_t c = 0; c < bank_groups_; ++c) {
      const std::int64_t n = a[c] + b[c];
      sum += n;
      squares += n * n;
    }
    return squares * bank_groups_ - sum * sum;
  }

  Lane lane_of(std::uint32_t output, std::uint32_t length) const {
    Lane lane;
    lane.pads = length;
    if (output == kNoOutput) return lane;
    const std::uint32_t first = layer_.row_begin[output], last = layer_.row_begin[output + 1];
    lane.pads -= last - first;
    std::uint32_t at = 0;
    for (std::uint32_t c = 0; c < bank_groups_; ++c) {
      lane.begin[c] = at;
      at += static_cast<std::uint32_t>(counts_[output][c]);
    }
    lane.connection.resize(last - first);
    for (std::uint32_t k = first; k < last; ++k) {
      const std::uint32_t c = bank_group_of(k);
      lane.connection[lane.begin[c] + lane.left[c]++] = k;
    }
    return lane;
  }

  // Lanes with the fewest bank groups to choose from come first.
  Order by_urgency(const std::vector<Lane>& lanes) const {
    Order order{};
    for (std::uint32_t i = 0; i < lanes.size() && i < kMostBankGroups; ++i) {
      std::uint32_t choices = lanes[i].pads > 0 ? bank_groups_ : 0;
      for (std::uint32_t c = 0; c < bank_groups_; ++c) choices += lanes[i].left[c] > 0 ? 1 : 0;
      std::uint32_t at = i;  // by insertion: there are eight at most
      const std::uint32_t key = choices * kMostBankGroups + i;
      for (; at > 0 && order[at - 1] > key; --at) order[at] = order[at - 1];
      order[at] = key;
    }
    return order;
  }

  // The free bank group that most rows wait for; bank_groups_ for a pad; where none is free, the
  // fullest.
  std::uint32_t choose(const Lane& lane, const Waiting& waiting,
                       const std::array<bool, kMostBankGroups>& is_used) const {
    std::uint32_t best = bank_groups_, best_score = 0;
    for (std::uint32_t c = 0; c < bank_groups_; ++c) {
      if (is_used[c] || lane.left[c] == 0) continue;
      const std::uint32_t score = waiting[c] * 4 + lane.left[c] * 8;
      if (score > best_score) best_score = score, best = c;
    }
    if (best < bank_groups_ || lane.pads > 0) return best;
    best = 0;
    for (std::uint32_t c = 1; c < bank_groups_; ++c) {
      if (lane.left[c] > lane.left[best]) best = c;
    }
    return best;
  }

  std::uint32_t take(Lane& lane, std::uint32_t chosen) const {
    if (chosen == bank_groups_) {
      --lane.pads;
      return kNoOutput;
    }
    return lane.connection[lane.begin[chosen] + --lane.left[chosen]];
  }

  const SparseLayer& layer_;
  std::span<const std::uint32_t> position_;
  std::uint32_t bank_groups_;
  std::vector<Counts> counts_;
};

// Pads read a row of a bank group that no other lane of the group reads, where there is one.
void place(LaneOrder& order, const SparseLayer& layer, std::span<const std::uint32_t> position,
           std::uint32_t bank_groups, std::size_t base, std::uint32_t length,
           const std::vector<std::vector<std::uint32_t>>& lists) {
  for (std::uint32_t k = 0; k < length; ++k) {
    std::array<std::uint32_t, kMostBankGroups> readers{};
    for (const auto& list : lists) {
      if (list[k] != kNoOutput) ++readers[position[layer.input[list[k]]] % bank_groups];
    }
    std::uint32_t most = *std::max_element(readers.begin(), readers.end());
    for (std::size_t i = 0; i < lists.size(); ++i) {
      const std::size_t at = base + std::size_t{k} * kLanes + i;
      if (lists[i][k] != kNoOutput) {
        order.row[at] = position[layer.input[lists[i][k]]];
        order.value[at] = layer.value[lists[i][k]];
        continue;
      }
      auto* const free = std::min_element(readers.begin(), readers.begin() + bank_groups);
      const auto pad_bank_group = static_cast<std::uint32_t>(free - readers.begin());
      ++*free;
      most = std::max(most, *free);
      order.row[at] = pad_bank_group < layer.inputs ? pad_bank_group : 0;
    }
    ++order.accesses;
    order.passes += std::max(most, 1u);
  }
}

}  // namespace

std::vector<std::uint32_t> outputs_of_lanes(const SparseLayer& layer,
                                            std::span<const std::uint32_t> position,
                                            std::uint32_t bank_groups) {
  std::vector<std::uint32_t> output = Orderer(layer, position, bank_groups).grouped_outputs();
  while (output.size() % kLanes != 0) output.push_back(kNoOutput);
  return output;
}

LaneOrder order_lanes(const SparseLayer& layer, std::span<const std::uint32_t> position,
                      std::vector<std::uint32_t> output, std::uint32_t bank_groups,
                      std::uint32_t unroll) {
  const Orderer orderer(layer, position, bank_groups);
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
    for (std::uint32_t lane = 0; lane < kLanes; lane += bank_groups) {
      std::vector<std::vector<std::uint32_t>> lists(bank_groups);
      orderer.order_group(std::span(order.output).subspan(first + lane, bank_groups), length,
                          lists);
      place(order, layer, position, bank_groups, begin + lane, length, lists);
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

}  // namespace winnow
