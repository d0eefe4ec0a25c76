#include "runtime/sparse/access_order.h"

#include <algorithm>
#include <numeric>

#include "runtime/sparse/edge_coloring.h"

namespace winnow {
namespace {

constexpr std::uint32_t kPad = EdgeColoring::kNone;

}  // namespace

AccessOrder::AccessOrder(const SparseLayer& layer, std::span<const std::uint32_t> position,
                         AccessShape shape)
    : layer_(layer), position_(position), shape_(shape) {}

// [outputs] connections.
std::vector<BankCounts> AccessOrder::counts() const {
  std::vector<BankCounts> counts(layer_.outputs());
  for (std::uint32_t j = 0; j < layer_.outputs(); ++j) {
    for (std::uint32_t k = layer_.row_begin[j]; k < layer_.row_begin[j + 1]; ++k) {
      ++counts[j][bank_group_of(k)];
    }
  }
  return counts;
}

std::vector<std::uint32_t> AccessOrder::outputs_in_sets() const {
  std::vector<std::uint32_t> sorted(layer_.outputs());
  std::iota(sorted.begin(), sorted.end(), 0u);
  std::ranges::stable_sort(
      sorted, [&](std::uint32_t a, std::uint32_t b) { return connections(a) > connections(b); });
  if (shape_.outputs() == 1) return sorted;
  const std::vector<BankCounts> counts = this->counts();
  std::vector<std::uint32_t> outputs;
  outputs.reserve(sorted.size());
  LevelWindow window(shape_.bank_groups);
  auto next = sorted.begin();
  while (outputs.size() < sorted.size()) {
    for (; !window.is_full() && next != sorted.end(); ++next) window.push(*next, counts[*next]);
    append_set(counts, window, outputs);
  }
  return outputs;
}

// Starts with the first of `window` and adds whoever levels the bank groups best.
void AccessOrder::append_set(const std::vector<BankCounts>& counts, LevelWindow& window,
                             std::vector<std::uint32_t>& outputs) const {
  BankCounts total{};
  for (std::uint32_t m = 0; m < shape_.outputs() && !window.is_empty(); ++m) {
    const std::uint32_t output = window.take(m == 0 ? 0 : window.most_even(total));
    for (std::uint32_t c = 0; c < shape_.bank_groups; ++c) total[c] += counts[output][c];
    outputs.push_back(output);
  }
}

// [output of the set][length] connections or kPad. The reads of an access are the edges of one
// colour between readers, of which each output has `reads`, and bank groups. What is too much for a
// bank group goes wherever its reader has room.
std::vector<std::vector<std::uint32_t>> AccessOrder::connections_of(
    std::span<const std::uint32_t> outputs, std::uint32_t length) const {
  const std::uint32_t accesses = length / shape_.reads;
  EdgeColoring coloring(shape_.bank_groups, shape_.bank_groups, accesses);
  std::vector<std::vector<std::uint32_t>> surplus(shape_.bank_groups);  // by reader
  for (std::uint32_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i] == kNoOutput) continue;
    std::uint32_t n = 0;
    for_each_by_bank_group(outputs[i], [&](std::uint32_t connection) {
      const std::uint32_t reader = i * shape_.reads + n++ % shape_.reads;
      const std::uint32_t bank_group = bank_group_of(connection);
      if (coloring.has_room(reader, bank_group)) {
        coloring.add(reader, bank_group, connection);
      } else {
        surplus[reader].push_back(connection);
      }
    });
  }
  std::vector<std::vector<std::uint32_t>> lists(outputs.size());
  for (std::uint32_t i = 0; i < outputs.size(); ++i) {
    for (std::uint32_t k = 0; k < length; ++k) {
      const std::uint32_t reader = i * shape_.reads + k % shape_.reads;
      std::uint32_t connection = coloring.edge(reader, k / shape_.reads);
      if (connection == kPad && !surplus[reader].empty()) {
        connection = surplus[reader].back();
        surplus[reader].pop_back();
      }
      lists[i].push_back(connection);
    }
  }
  return lists;
}

// The connections of an output, those into the same bank group one after the other.
template <typename Visit>
void AccessOrder::for_each_by_bank_group(std::uint32_t output, Visit visit) const {
  const std::uint32_t first = layer_.row_begin[output], last = layer_.row_begin[output + 1];
  for (std::uint32_t c = 0; c < shape_.bank_groups; ++c) {
    for (std::uint32_t k = first; k < last; ++k) {
      if (bank_group_of(k) == c) visit(k);
    }
  }
}

// Pads read a row of a bank group that nobody else reads in the access, where there is one.
void AccessOrder::place_access(const std::vector<std::vector<std::uint32_t>>& connections,
                               std::uint32_t first, std::vector<std::vector<RowRead>>& reads) {
  BankCounts readers{};
  for (const auto& list : connections) {
    for (std::uint32_t k = first; k < first + shape_.reads; ++k) {
      if (list[k] != kPad) ++readers[bank_group_of(list[k])];
    }
  }
  std::uint32_t most = *std::ranges::max_element(readers);
  for (std::size_t i = 0; i < connections.size(); ++i) {
    for (std::uint32_t k = first; k < first + shape_.reads; ++k) {
      const std::uint32_t connection = connections[i][k];
      if (connection != kPad) {
        reads[i].push_back({position_[layer_.input[connection]], layer_.value[connection]});
        continue;
      }
      auto* const free = std::min_element(readers.begin(), readers.begin() + shape_.bank_groups);
      const auto bank_group = static_cast<std::uint32_t>(free - readers.begin());
      most = std::max(most, ++*free);
      reads[i].push_back({bank_group < layer_.inputs ? bank_group : 0, 0.0f});
    }
  }
  ++accesses_;
  passes_ += std::max(most, 1u);
}

std::vector<std::vector<RowRead>> AccessOrder::reads_of(std::span<const std::uint32_t> outputs,
                                                        std::uint32_t length) {
  const auto connections = connections_of(outputs, length);
  std::vector<std::vector<RowRead>> reads(outputs.size());
  for (auto& list : reads) list.reserve(length);
  for (std::uint32_t k = 0; k < length; k += shape_.reads) place_access(connections, k, reads);
  return reads;
}

std::vector<std::uint32_t> positions_of(std::span<const std::uint32_t> output,
                                        std::uint32_t outputs) {
  std::vector<std::uint32_t> position(outputs);
  for (std::uint32_t row = 0; row < output.size(); ++row) {
    if (output[row] != kNoOutput) position[output[row]] = row;
  }
  return position;
}

}  // namespace winnow
