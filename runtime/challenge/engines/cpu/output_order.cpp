#include "runtime/challenge/engines/cpu/output_order.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <unordered_map>

#include "runtime/base/random.h"

namespace winnow::challenge {
namespace {

std::span<const std::uint32_t> inputs_of(const SparseLayer& layer, std::uint32_t output) {
  const std::uint32_t begin = layer.row_begin[output];
  return std::span(layer.input).subspan(begin, layer.row_begin[output + 1] - begin);
}

std::uint64_t hash_of(std::span<const std::uint32_t> inputs) {
  std::uint64_t hash = inputs.size();
  for (const std::uint32_t input : inputs) hash = mix_bits(hash + input + 1);
  return hash;
}

struct Groups {
  std::vector<std::uint32_t> of_output;  // numbered as they come up
  std::uint32_t count = 0;
};

Groups find_groups(const SparseLayer& layer) {
  Groups groups;
  std::unordered_multimap<std::uint64_t, std::uint32_t> first_outputs;  // of the groups, by hash
  for (std::uint32_t output = 0; output < layer.outputs(); ++output) {
    const auto inputs = inputs_of(layer, output);
    const std::uint64_t hash = hash_of(inputs);
    const auto [begin, end] = first_outputs.equal_range(hash);
    const auto same = std::find_if(begin, end, [&](const auto& entry) {
      return std::ranges::equal(inputs_of(layer, entry.second), inputs);
    });
    if (same != end) {
      groups.of_output.push_back(groups.of_output[same->second]);
    } else {
      first_outputs.emplace(hash, output);
      groups.of_output.push_back(groups.count++);
    }
  }
  return groups;
}

}  // namespace

OutputOrder order_by_inputs(const SparseLayer& layer) {
  const Groups groups = find_groups(layer);
  OutputOrder order;
  order.group_begin.resize(std::size_t{groups.count} + 1);
  for (const std::uint32_t group : groups.of_output) ++order.group_begin[group + 1];
  std::partial_sum(order.group_begin.begin(), order.group_begin.end(), order.group_begin.begin());
  std::vector<std::uint32_t> next(order.group_begin.begin(), order.group_begin.end() - 1);
  order.output.resize(layer.outputs());
  for (std::uint32_t output = 0; output < layer.outputs(); ++output) {
    order.output[next[groups.of_output[output]]++] = output;
  }
  return order;
}

std::vector<std::uint32_t> places(const OutputOrder& order) {
  std::vector<std::uint32_t> place(order.output.size());
  for (std::uint32_t i = 0; i < place.size(); ++i) place[order.output[i]] = i;
  return place;
}

}  // namespace winnow::challenge
