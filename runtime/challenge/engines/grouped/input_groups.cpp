#include "runtime/challenge/engines/grouped/input_groups.h"

#include <algorithm>
#include <numeric>

namespace winnow::challenge {
namespace {

std::span<const std::uint32_t> row_of(const SparseLayer& layer, std::uint32_t output) {
  return std::span(layer.input)
      .subspan(layer.row_begin[output], layer.row_begin[output + 1] - layer.row_begin[output]);
}

std::uint64_t hash_of(std::span<const std::uint32_t> row) {
  std::uint64_t hash = 0x9e3779b97f4a7c15u + row.size();
  for (const std::uint32_t input : row) {
    hash = (hash ^ input) * 0xff51afd7ed558ccdu;
    hash ^= hash >> 32;
  }
  return hash;
}

// Outputs by what they read: equal rows beside each other, in the order of their first outputs.
std::vector<std::uint32_t> order_by_row(const SparseLayer& layer) {
  struct Entry {
    std::uint64_t hash;
    std::uint32_t output;
  };
  std::vector<Entry> entries(layer.outputs());
  for (std::uint32_t j = 0; j < layer.outputs(); ++j) entries[j] = {hash_of(row_of(layer, j)), j};
  std::ranges::sort(entries, [&](const Entry& a, const Entry& b) {
    if (a.hash != b.hash) return a.hash < b.hash;
    const auto x = row_of(layer, a.output), y = row_of(layer, b.output);
    if (!std::ranges::equal(x, y)) return std::ranges::lexicographical_compare(x, y);
    return a.output < b.output;
  });
  std::vector<std::uint32_t> order(entries.size());
  std::ranges::transform(entries, order.begin(), &Entry::output);
  return order;
}

void add_group(InputGroups& groups, std::span<const std::uint32_t> outputs,
               std::span<const std::uint32_t> inputs) {
  groups.output.insert(groups.output.end(), outputs.begin(), outputs.end());
  groups.output_begin.push_back(static_cast<std::uint32_t>(groups.output.size()));
  groups.input.insert(groups.input.end(), inputs.begin(), inputs.end());
  groups.input_begin.push_back(static_cast<std::uint32_t>(groups.input.size()));
}

std::vector<std::uint32_t> union_of_inputs(const SparseLayer& layer,
                                           std::span<const std::uint32_t> outputs) {
  std::vector<std::uint32_t> inputs;
  for (const std::uint32_t output : outputs) {
    const auto row = row_of(layer, output);
    inputs.insert(inputs.end(), row.begin(), row.end());
  }
  std::ranges::sort(inputs);
  inputs.erase(std::unique(inputs.begin(), inputs.end()), inputs.end());
  return inputs;
}

// `left`: sequences of outputs with equal rows, none of which fills a group.
void add_mixed_groups(InputGroups& groups, const SparseLayer& layer,
                      std::vector<std::uint32_t> left) {
  std::ranges::stable_sort(left, [&](std::uint32_t a, std::uint32_t b) {
    return std::ranges::lexicographical_compare(row_of(layer, a), row_of(layer, b));
  });
  for (std::size_t begin = 0; begin < left.size(); begin += kGroupOutputs) {
    const auto outputs =
        std::span(left).subspan(begin, std::min<std::size_t>(kGroupOutputs, left.size() - begin));
    add_group(groups, outputs, union_of_inputs(layer, outputs));
  }
}

// Walks from group to group.
class Chain {
 public:
  Chain(const InputGroups& groups, std::uint32_t inputs)
      : groups_(groups),
        readers_(readers_of(groups, inputs)),
        common_(groups.size()),
        is_taken_(groups.size()) {}

  std::vector<std::uint32_t> order() {
    std::vector<std::uint32_t> order;
    for (std::uint32_t start = 0; start < groups_.size(); ++start) {
      for (std::uint32_t g = start; g < groups_.size() && !is_taken_[g]; g = nearest(g)) {
        is_taken_[g] = true;
        order.push_back(g);
      }
    }
    return order;
  }

 private:
  // The group not yet taken with the most inputs in common with `g`; groups_.size() if none has
  // any. Looks at a few inputs only, which is enough where groups have the same ones or not.
  std::uint32_t nearest(std::uint32_t g) {
    constexpr std::size_t kInputs = 64, kReaders = 16;
    std::uint32_t best = groups_.size(), most = 0;
    std::vector<std::uint32_t> met;
    const auto inputs = groups_.inputs(g);
    for (const std::uint32_t i : inputs.first(std::min(kInputs, inputs.size()))) {
      const auto readers = readers_.of(i);
      for (const std::uint32_t other : readers.first(std::min(kReaders, readers.size()))) {
        if (is_taken_[other]) continue;
        if (common_[other]++ == 0) met.push_back(other);
        if (common_[other] > most) {
          most = common_[other];
          best = other;
        }
      }
    }
    for (const std::uint32_t other : met) common_[other] = 0;
    return best;
  }

  const InputGroups& groups_;
  GroupReaders readers_;
  std::vector<std::uint32_t> common_;
  std::vector<bool> is_taken_;
};

}  // namespace

std::span<const std::uint32_t> InputGroups::inputs(std::uint32_t g) const {
  return std::span(input).subspan(input_begin[g], input_begin[g + 1] - input_begin[g]);
}

std::span<const std::uint32_t> InputGroups::outputs(std::uint32_t g) const {
  return std::span(output).subspan(output_begin[g], output_begin[g + 1] - output_begin[g]);
}

std::span<const std::uint32_t> GroupReaders::of(std::uint32_t input) const {
  return std::span(group).subspan(begin[input], begin[input + 1] - begin[input]);
}

GroupReaders readers_of(const InputGroups& groups, std::uint32_t inputs) {
  GroupReaders readers{.begin = std::vector<std::uint32_t>(inputs + std::size_t{2}),
                       .group = std::vector<std::uint32_t>(groups.input.size())};
  for (const std::uint32_t i : groups.input) ++readers.begin[i + 2];
  std::partial_sum(readers.begin.begin(), readers.begin.end(), readers.begin.begin());
  for (std::uint32_t g = 0; g < groups.size(); ++g) {
    for (const std::uint32_t i : groups.inputs(g)) readers.group[readers.begin[i + 1]++] = g;
  }
  return readers;
}

InputGroups find_input_groups(const SparseLayer& layer) {
  const std::vector<std::uint32_t> order = order_by_row(layer);
  InputGroups groups;
  std::vector<std::uint32_t> left;
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    const auto row = row_of(layer, order[begin]);
    while (end < order.size() && std::ranges::equal(row, row_of(layer, order[end]))) ++end;
    for (; end - begin >= kGroupOutputs; begin += kGroupOutputs) {
      add_group(groups, std::span(order).subspan(begin, kGroupOutputs), row);
    }
    left.insert(left.end(), order.begin() + static_cast<std::ptrdiff_t>(begin),
                order.begin() + static_cast<std::ptrdiff_t>(end));
  }
  add_mixed_groups(groups, layer, std::move(left));
  return groups;
}

InputGroups chain_groups(const InputGroups& groups, std::uint32_t inputs) {
  InputGroups chained;
  for (const std::uint32_t g : Chain(groups, inputs).order()) {
    add_group(chained, groups.outputs(g), groups.inputs(g));
  }
  return chained;
}

}  // namespace winnow::challenge
