#include "runtime/challenge/engines/grouped/layout/group_panels.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "tests/challenge/engines/grouped/shared_network.h"

namespace winnow::challenge {

TEST_CASE("a panel's inputs come once, those of the same groups beside each other") {
  const SparseLayer layer = shared_layer({.inputs = 300, .outputs = 400, .connections = 30});
  const InputGroups groups = chain_groups(find_input_groups(layer), layer.inputs);
  const std::vector<std::uint32_t> no_rows;
  PanelInputs panel(groups, layer.inputs, no_rows);
  for (std::uint32_t first = 0; first < groups.size(); first += kPanelGroups) {
    panel.go_to(first);
    const auto inputs = panel.inputs();
    std::set<std::uint32_t> expected;
    std::vector<std::vector<std::uint32_t>> readers(inputs.size());
    for (std::uint32_t g = first; g < std::min(first + kPanelGroups, groups.size()); ++g) {
      expected.insert(groups.inputs(g).begin(), groups.inputs(g).end());
      for (std::size_t n = 0; n < inputs.size(); ++n) {
        if (std::ranges::binary_search(groups.inputs(g), inputs[n])) readers[n].push_back(g);
      }
    }
    CHECK(inputs.size() == expected.size());
    CHECK(std::ranges::equal(panel.rows(), inputs));
    for (std::uint32_t n = 0; n < inputs.size(); ++n) CHECK(panel.number(inputs[n]) == n);
    CHECK(std::set(inputs.begin(), inputs.end()) == expected);
    std::set<std::vector<std::uint32_t>> met;  // each set of readers is one run
    for (std::size_t n = 0; n < readers.size(); ++n) {
      if (n == 0 || readers[n] != readers[n - 1]) CHECK(met.insert(readers[n]).second);
    }
  }
}

TEST_CASE("a panel without inputs reads input 0") {
  const SparseLayer layer{.inputs = 3, .row_begin = {0, 0}, .input = {}, .value = {}, .bias = {1}};
  const InputGroups groups = find_input_groups(layer);
  const std::vector<std::uint32_t> rows = {7, 8, 9};
  PanelInputs panel(groups, layer.inputs, rows);
  panel.go_to(0);
  CHECK(std::ranges::equal(panel.inputs(), std::vector{0u}));
  CHECK(std::ranges::equal(panel.rows(), std::vector{7u}));
}

TEST_CASE("lanes of a quarter warp read rows that are different modulo 4") {
  std::vector<std::uint32_t> local(48);
  std::iota(local.begin(), local.end(), 32u);
  const auto columns = in_order_of_columns(local);
  CHECK(std::set(columns.begin(), columns.end()) == std::set(local.begin(), local.end()));
  for (std::size_t fragment = 0; fragment < columns.size(); fragment += 16) {
    for (const std::size_t i : {0, 1, 8, 9}) {
      std::set<std::uint32_t> residues;
      for (std::size_t q = 0; q < 4; ++q) residues.insert(columns[fragment + 2 * q + i] % 4);
      CHECK(residues.size() == 4);
    }
  }
}

TEST_CASE("what does not fill a fragment keeps its order") {
  CHECK(in_order_of_columns({5, 7, 9}) == std::vector<std::uint32_t>{5, 7, 9});
  CHECK(in_order_of_columns({}).empty());
}

}  // namespace winnow::challenge
