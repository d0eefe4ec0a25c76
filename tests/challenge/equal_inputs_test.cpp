#include "runtime/challenge/equal_inputs.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "runtime/base/random.h"

namespace winnow::challenge {
namespace {

using Numbers = std::vector<std::uint32_t>;

SparseLayer layer_of(const std::vector<Numbers>& rows) {
  SparseLayer layer{.inputs = 8, .row_begin = {0}, .input = {}, .value = {}, .bias = {}};
  for (const Numbers& row : rows) {
    layer.input.insert(layer.input.end(), row.begin(), row.end());
    layer.row_begin.push_back(static_cast<std::uint32_t>(layer.input.size()));
  }
  layer.value.resize(layer.input.size(), 1);
  layer.bias.resize(rows.size());
  return layer;
}

// Sets in the order of their first outputs.
std::vector<Numbers> sets_of(const SparseLayer& layer) {
  const OutputSets found = find_equal_inputs(layer);
  std::vector<Numbers> sets;
  for (std::size_t s = 0; s < found.size(); ++s)
    sets.emplace_back(found[s].begin(), found[s].end());
  std::ranges::sort(sets);
  return sets;
}

}  // namespace

TEST_CASE("outputs with equal inputs are one set, with other inputs another") {
  const SparseLayer layer = layer_of({{1, 2}, {0}, {1, 2}, {}, {1, 2, 3}, {2}, {}, {1, 2}});
  CHECK(sets_of(layer) == std::vector<Numbers>{{0, 2, 7}, {1}, {3, 6}, {4}, {5}});
  CHECK(std::ranges::equal(inputs_of(layer, 4), Numbers{1, 2, 3}));
  CHECK(inputs_of(layer, 3).empty());
}

TEST_CASE("a layer without outputs has no sets") {
  CHECK(find_equal_inputs(layer_of({})).size() == 0);
}

TEST_CASE("sets are those of a comparison row by row") {
  Random random(5);
  for (const std::uint32_t outputs : {1u, 40u, 300u}) {
    std::vector<Numbers> rows(outputs);
    for (Numbers& row : rows) {
      for (std::uint32_t i = 0; i < 6; ++i) {
        if (random.chance(0.5)) row.push_back(i);
      }
    }
    std::map<Numbers, Numbers> by_row;
    for (std::uint32_t j = 0; j < outputs; ++j) by_row[rows[j]].push_back(j);
    std::vector<Numbers> expected;
    for (const auto& [row, set] : by_row) expected.push_back(set);
    std::ranges::sort(expected);
    CHECK(sets_of(layer_of(rows)) == expected);
  }
}

}  // namespace winnow::challenge
