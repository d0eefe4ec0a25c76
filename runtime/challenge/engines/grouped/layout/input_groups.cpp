#include "runtime/challenge/engines/grouped/layout/input_groups.h"

#include <algorithm>
#include <numeric>

#include "runtime/challenge/equal_inputs.h"

namespace winnow::challenge {
namespace {

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
    const auto row = inputs_of(layer, output);
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
    return std::ranges::lexicographical_compare(inputs_of(layer, a), inputs_of(layer, b));
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
  const OutputSets sets = find_equal_inputs(layer);
  InputGroups groups;
  std::vector<std::uint32_t> left;
  for (std::size_t s = 0; s < sets.size(); ++s) {
    auto rest = sets[s];
    const auto inputs = inputs_of(layer, rest.front());
    for (; rest.size() >= kGroupOutputs; rest = rest.subspan(kGroupOutputs)) {
      add_group(groups, rest.first(kGroupOutputs), inputs);
    }
    left.insert(left.end(), rest.begin(), rest.end());
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
