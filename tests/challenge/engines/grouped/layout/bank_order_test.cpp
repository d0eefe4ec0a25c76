#include "runtime/challenge/engines/grouped/layout/bank_order.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>

#include "runtime/challenge/engines/grouped/layout/grouped_layer.h"
#include "tests/challenge/engines/grouped/shared_network.h"

namespace winnow::challenge {
namespace {

// The most rows of one bank that a group of `next` reads, summed over its groups.
std::uint32_t most_of_a_bank(const InputGroups& groups, const InputGroups& next) {
  const auto rows = rows_of_outputs(groups);
  std::uint32_t sum = 0;
  for (std::uint32_t g = 0; g < next.size(); ++g) {
    std::array<std::uint32_t, kBankGroups> count{};
    for (const std::uint32_t i : next.inputs(g)) ++count[rows[i] % kBankGroups];
    sum += *std::ranges::max_element(count);
  }
  return sum;
}

struct Pair {
  InputGroups first, second;
};

Pair groups_of(const MemoryNetwork& network) {
  const SparseLayer first = network.layer(0), second = network.layer(1);
  return {chain_groups(find_input_groups(first), first.inputs),
          chain_groups(find_input_groups(second), second.inputs)};
}

}  // namespace

TEST_CASE("outputs change their order within groups only") {
  Pair pair = groups_of(shared_network({90, 130, 75}, {.connections = 20}));
  const InputGroups before = pair.first;
  order_for_banks(pair.first, pair.second);
  CHECK(pair.first.input == before.input);
  CHECK(pair.first.output_begin == before.output_begin);
  for (std::uint32_t g = 0; g < before.size(); ++g) {
    CHECK(std::ranges::is_permutation(pair.first.outputs(g), before.outputs(g)));
  }
}

TEST_CASE("groups then read about as many rows of each bank") {
  // 64 groups that read 32 of 1024 rows at random: 4 of each of 8 banks at best.
  Pair pair = groups_of(shared_network({1024, 1024, 1024}, {.connections = 32}));
  REQUIRE(pair.second.size() == 64);
  CHECK(most_of_a_bank(pair.first, pair.second) > 64 * 6);
  order_for_banks(pair.first, pair.second);
  CHECK(most_of_a_bank(pair.first, pair.second) < 64 * 5.2);
}

TEST_CASE("groups that read whole groups stay even") {
  Pair pair = groups_of(class_network(256, 2, {}));
  order_for_banks(pair.first, pair.second);
  CHECK(most_of_a_bank(pair.first, pair.second) == 4 * pair.second.size());
}

}  // namespace winnow::challenge
