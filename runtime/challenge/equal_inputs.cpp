#include "runtime/challenge/equal_inputs.h"

#include <algorithm>
#include <bit>
#include <numeric>

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

// Outputs with equal inputs, met one after the other.
class Sets {
 public:
  explicit Sets(const SparseLayer& layer)
      : layer_(layer),
        place_(std::bit_ceil(2 * std::size_t{layer.outputs()} + 1), kNone),
        set_of_(layer.outputs()) {
    for (std::uint32_t j = 0; j < layer.outputs(); ++j) add(j);
  }

  OutputSets in_order_of_hashes() const;

 private:
  static constexpr std::uint32_t kNone = 0xffffffffu;
  struct Set {
    std::uint64_t hash;
    std::uint32_t first;  // output
    std::uint32_t outputs;
  };

  void add(std::uint32_t output) {
    const auto inputs = inputs_of(layer_, output);
    const std::uint64_t hash = hash_of(inputs);
    std::size_t at = hash & (place_.size() - 1);
    while (place_[at] != kNone && !has(sets_[place_[at]], hash, inputs)) {
      at = (at + 1) & (place_.size() - 1);
    }
    if (place_[at] == kNone) {
      place_[at] = static_cast<std::uint32_t>(sets_.size());
      sets_.push_back({hash, output, 0});
    }
    set_of_[output] = place_[at];
    ++sets_[place_[at]].outputs;
  }

  bool has(const Set& set, std::uint64_t hash, std::span<const std::uint32_t> inputs) const {
    return set.hash == hash && std::ranges::equal(inputs_of(layer_, set.first), inputs);
  }

  bool is_before(const Set& a, const Set& b) const {
    if (a.hash != b.hash) return a.hash < b.hash;
    return std::ranges::lexicographical_compare(inputs_of(layer_, a.first),
                                                inputs_of(layer_, b.first));
  }

  const SparseLayer& layer_;
  std::vector<std::uint32_t> place_;  // a hash table of sets, a power of two long
  std::vector<Set> sets_;
  std::vector<std::uint32_t> set_of_;  // [outputs]
};

OutputSets Sets::in_order_of_hashes() const {
  std::vector<std::uint32_t> order(sets_.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::sort(
      order, [this](std::uint32_t a, std::uint32_t b) { return is_before(sets_[a], sets_[b]); });
  OutputSets all{.output = std::vector<std::uint32_t>(set_of_.size()), .begin = {0}};
  std::vector<std::uint32_t> end(sets_.size());  // of what is there of each set
  for (const std::uint32_t set : order) {
    end[set] = all.begin.back();
    all.begin.push_back(all.begin.back() + sets_[set].outputs);
  }
  for (std::uint32_t j = 0; j < set_of_.size(); ++j) all.output[end[set_of_[j]]++] = j;
  return all;
}

}  // namespace

std::span<const std::uint32_t> inputs_of(const SparseLayer& layer, std::uint32_t output) {
  const std::uint32_t begin = layer.row_begin[output];
  return std::span(layer.input).subspan(begin, layer.row_begin[output + 1] - begin);
}

OutputSets find_equal_inputs(const SparseLayer& layer) {
  return Sets(layer).in_order_of_hashes();
}

}  // namespace winnow::challenge
