#include "runtime/challenge/generate/random_wiring.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

namespace winnow::challenge {
namespace {

using Row = std::vector<std::uint32_t>;

std::vector<Row> rows_of(const std::vector<std::uint32_t>& wiring, std::uint32_t connections) {
  std::vector<Row> rows;
  for (auto at = wiring.begin(); at != wiring.end(); at += connections) {
    rows.emplace_back(at, at + connections);
  }
  return rows;
}

}  // namespace

TEST_CASE("in random wiring every output and every input has its connections") {
  struct Sizes {
    std::uint32_t neurons, connections;
  };
  for (const Sizes& size : {Sizes{1, 1}, {50, 1}, {50, 7}, {50, 49}, {32, 32}, {1000, 32}}) {
    CAPTURE(size.neurons);
    CAPTURE(size.connections);
    Random random(1);
    const std::vector<std::uint32_t> wiring = random_wiring(size.neurons, size.connections, random);
    REQUIRE(wiring.size() == size.neurons * size.connections);
    std::vector<std::uint32_t> uses(size.neurons);
    for (const Row& row : rows_of(wiring, size.connections)) {
      CHECK(std::adjacent_find(row.begin(), row.end(), std::greater_equal<>()) == row.end());
      REQUIRE(row.back() < size.neurons);
      for (const std::uint32_t input : row) ++uses[input];
    }
    CHECK(std::count(uses.begin(), uses.end(), size.connections) == size.neurons);
  }
}

TEST_CASE("in random wiring outputs share inputs only by chance") {
  constexpr std::uint32_t kNeurons = 256, kConnections = 16;
  Random random(1);
  const std::vector<Row> rows =
      rows_of(random_wiring(kNeurons, kConnections, random), kConnections);
  CHECK(std::set<Row>(rows.begin(), rows.end()).size() == kNeurons);
  double shared = 0;  // of all pairs
  std::size_t most = 0;
  for (std::size_t a = 0; a < kNeurons; ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      Row both;
      std::set_intersection(rows[a].begin(), rows[a].end(), rows[b].begin(), rows[b].end(),
                            std::back_inserter(both));
      shared += static_cast<double>(both.size());
      most = std::max(most, both.size());
    }
  }
  // Each of the 256 inputs is read by 16 * 15 / 2 pairs of outputs.
  CHECK(shared == kNeurons * kConnections * (kConnections - 1) / 2);
  // Two random rows share k inputs with a chance of about 1 / (e k!), more than 8 once in 900,000
  // pairs; there are 32,640. The wiring that all begins with has pairs that share 15.
  CHECK(most <= 8);
}

TEST_CASE("random wiring follows the seed") {
  const auto wire = [](std::uint64_t seed) {
    Random random(seed);
    return random_wiring(64, 8, random);
  };
  CHECK(wire(1) == wire(1));
  CHECK(wire(1) != wire(2));
}

}  // namespace winnow::challenge
