#include "runtime/challenge/equal_inputs.h"

#include <algorithm>

namespace winnow::challenge {
namespace {

std::uint64_t hash_of(std::span<const std::uint32_t> inputs) {
  std::uint64_t hash = 0x9e3779b97f4a7c15u + inputs.size();
  for (const std::uint32_t input : inputs) {
    hash = (hash ^ input) * 0xff51afd7ed558ccdu;
    hash ^= hash >> 32;
  }
  return hash;
}

}  // namespace

std::span<const std::uint32_t> inputs_of(const SparseLayer& layer, std::uint32_t output) {
  const std::uint32_t begin = layer.row_begin[output];
  return std::span(layer.input).subspan(begin, layer.row_begin[output + 1] - begin);
}

OutputSets find_equal_inputs(const SparseLayer& layer) {
  struct Entry {
    std::uint64_t hash;
    std::uint32_t output;
  };
  std::vector<Entry> entries(layer.outputs());
  for (std::uint32_t j = 0; j < entries.size(); ++j) entries[j] = {hash_of(inputs_of(layer, j)), j};
  std::ranges::sort(entries, [&](const Entry& a, const Entry& b) {
    if (a.hash != b.hash) return a.hash < b.hash;
    const auto x = inputs_of(layer, a.output), y = inputs_of(layer, b.output);
    if (!std::ranges::equal(x, y)) return std::ranges::lexicographical_compare(x, y);
    return a.output < b.output;
  });
  OutputSets sets;
  for (const Entry& entry : entries) {
    const bool is_same =
        !sets.output.empty() &&
        std::ranges::equal(inputs_of(layer, sets.output.back()), inputs_of(layer, entry.output));
    if (!is_same && !sets.output.empty()) {
      sets.begin.push_back(static_cast<std::uint32_t>(sets.output.size()));
    }
    sets.output.push_back(entry.output);
  }
  if (!sets.output.empty()) sets.begin.push_back(static_cast<std::uint32_t>(sets.output.size()));
  return sets;
}

}  // namespace winnow::challenge
