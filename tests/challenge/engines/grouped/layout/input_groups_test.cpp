#include "runtime/challenge/engines/grouped/layout/input_groups.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "runtime/challenge/equal_inputs.h"
#include "tests/challenge/engines/grouped/shared_network.h"
#include "tests/challenge/random_network.h"

namespace winnow::challenge {
namespace {

// Every output is in one group, which reads what its outputs read and nothing else.
void check_groups(const SparseLayer& layer, const InputGroups& groups) {
  std::vector<std::uint32_t> met(layer.outputs());
  for (std::uint32_t g = 0; g < groups.size(); ++g) {
    const auto inputs = groups.inputs(g), outputs = groups.outputs(g);
    CHECK(outputs.size() >= 1);
    CHECK(outputs.size() <= kGroupOutputs);
    CHECK(std::ranges::is_sorted(inputs));
    std::vector<std::uint32_t> read;
    for (const std::uint32_t output : outputs) {
      ++met[output];
      const auto row = inputs_of(layer, output);
      CHECK(std::ranges::includes(inputs, row));
      read.insert(read.end(), row.begin(), row.end());
    }
    for (const std::uint32_t i : inputs) CHECK(std::ranges::find(read, i) != read.end());
  }
  CHECK(std::ranges::count(met, 1u) == layer.outputs());
}

}  // namespace

TEST_CASE("outputs with equal inputs are found wherever they lie") {
  const SparseLayer layer = shared_layer({.inputs = 100, .outputs = 64, .sharing = 16});
  const InputGroups groups = find_input_groups(layer);
  check_groups(layer, groups);
  CHECK(groups.size() == 4);
  for (std::uint32_t g = 0; g < groups.size(); ++g) CHECK(groups.inputs(g).size() == 8);
}

TEST_CASE("what does not fill a group is put together") {
  // 24 outputs share: one full group, and 8 that are left over of each of two.
  const SparseLayer layer = shared_layer({.inputs = 100, .outputs = 48, .sharing = 24});
  const InputGroups groups = find_input_groups(layer);
  check_groups(layer, groups);
  CHECK(groups.size() == 3);
  CHECK(groups.inputs(2).size() > 8);
}

TEST_CASE("groups of layers in which nothing is shared hold all outputs, too") {
  for (const std::uint32_t outputs : {1u, 15u, 16u, 17u, 200u}) {
    const MemoryNetwork network = random_network({.widths = {37, outputs}, .seed = outputs});
    const SparseLayer layer = network.layer(0);
    check_groups(layer, find_input_groups(layer));
    check_groups(layer, chain_groups(find_input_groups(layer), layer.inputs));
  }
}

TEST_CASE("a chain puts groups that share inputs beside each other") {
  // Groups read {0, 1}, {1, 2}, {2, 3}, ... but come in another order.
  constexpr std::uint32_t kGroups = 9;
  InputGroups groups;
  for (std::uint32_t k = 0; k < kGroups; ++k) {
    const std::uint32_t g = k * 4 % kGroups;
    groups.input.insert(groups.input.end(), {g, g + 1});
    groups.input_begin.push_back(2 * (k + 1));
    groups.output.push_back(g);
    groups.output_begin.push_back(k + 1);
  }
  const InputGroups chained = chain_groups(groups, kGroups + 1);
  std::uint32_t neighbours = 0;
  for (std::uint32_t k = 1; k < kGroups; ++k) {
    const auto before = chained.inputs(k - 1)[0], here = chained.inputs(k)[0];
    neighbours += before + 1 == here || here + 1 == before;
  }
  CHECK(neighbours == kGroups - 1);
}

}  // namespace winnow::challenge
