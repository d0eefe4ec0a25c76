#include "runtime/sparse/edge_coloring.h"

#include <doctest/doctest.h>

#include <array>
#include <random>
#include <set>
#include <vector>

namespace winnow {
namespace {

using Edge = std::array<std::uint32_t, 2>;  // left, right

// Every edge has one colour; no two of a node share theirs.
void check_coloring(const EdgeColoring& coloring, const std::vector<Edge>& edges,
                    std::uint32_t left, std::uint32_t colors) {
  std::set<std::uint32_t> met;
  std::set<Edge> at_right;  // right node, colour
  for (std::uint32_t node = 0; node < left; ++node) {
    for (std::uint32_t color = 0; color < colors; ++color) {
      const std::uint32_t edge = coloring.edge(node, color);
      if (edge == EdgeColoring::kNone) continue;
      REQUIRE(edge < edges.size());
      CHECK(edges[edge][0] == node);
      CHECK(met.insert(edge).second);
      CHECK(at_right.insert({edges[edge][1], color}).second);
    }
  }
  CHECK(met.size() == edges.size());
}

TEST_CASE("two edges into one node get two colours") {
  EdgeColoring coloring(2, 2, 2);
  const std::vector<Edge> edges = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
  for (std::uint32_t e = 0; e < edges.size(); ++e) {
    REQUIRE(coloring.has_room(edges[e][0], edges[e][1]));
    coloring.add(edges[e][0], edges[e][1], e);
  }
  check_coloring(coloring, edges, 2, 2);
  CHECK_FALSE(coloring.has_room(0, 0));
}

TEST_CASE("as many colours suffice as a node has edges") {
  std::mt19937 random(7);
  const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
  for (int round = 0; round < 50; ++round) {
    const std::uint32_t left = 1 + below(9), right = 1 + below(9);
    const std::uint32_t colors = 1 + below(33);
    EdgeColoring coloring(left, right, colors);
    std::vector<Edge> edges;
    for (std::uint32_t i = 0; i < 4 * colors * (left + right); ++i) {
      const Edge edge = {below(left), below(right)};  // often twice between two nodes
      if (!coloring.has_room(edge[0], edge[1])) continue;
      coloring.add(edge[0], edge[1], static_cast<std::uint32_t>(edges.size()));
      edges.push_back(edge);
    }
    CHECK(edges.size() >= colors);
    check_coloring(coloring, edges, left, colors);
  }
}

}  // namespace
}  // namespace winnow
