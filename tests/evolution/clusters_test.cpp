#include "prune/evolution/population/clusters.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "runtime/base/random.h"

namespace winnow {
namespace {

using Points = std::vector<std::vector<double>>;
using Indices = std::vector<std::size_t>;

TEST_CASE("obvious clusters are found whichever point is first") {
  const Points points = {{0.1, 0.1}, {0.9, 0.9}, {0.12, 0.1}, {0.9, 0.88}, {0.1, 0.9}};
  for (std::size_t first = 0; first < points.size(); ++first) {
    CAPTURE(first);
    const Indices clusters = cluster(points, 3, first);
    CHECK(clusters[0] == clusters[2]);
    CHECK(clusters[1] == clusters[3]);
    CHECK(std::set<std::size_t>(clusters.begin(), clusters.end()).size() == 3);
    CHECK(clusters[first] == 0);
  }
}

TEST_CASE("there are no more clusters than different points") {
  CHECK(cluster(Points{{1, 1}, {1, 1}, {1, 1}}, 2, 1) == Indices{0, 0, 0});
  CHECK(cluster(Points{{1, 1}, {2, 1}}, 5, 1) == Indices{1, 0});
  CHECK(cluster(Points{}, 3, 0) == Indices{});
}

TEST_CASE("random sets fall into as many clusters as asked for, the same each time") {
  Random random(1);
  for (int round = 0; round < 50; ++round) {
    CAPTURE(round);
    Points points(static_cast<std::size_t>(random.between(1, 12)));
    for (std::vector<double>& point : points) {
      for (int i = 0; i < 3; ++i) point.push_back(random.uniform());
    }
    const auto count = static_cast<std::size_t>(random.between(1, 5));
    const Indices clusters = cluster(points, count, 0);
    REQUIRE(clusters.size() == points.size());
    const std::set<std::size_t> used(clusters.begin(), clusters.end());
    CHECK(used.size() == std::min(count, points.size()));
    CHECK(*used.rbegin() == used.size() - 1);
    CHECK(cluster(points, count, 0) == clusters);
  }
}

TEST_CASE("the best of each cluster represent it, in the order of fitness") {
  const Indices clusters = {0, 1, 0, 1, 2};
  const Indices order = {3, 2, 0, 1, 4};
  CHECK(representatives(clusters, order, 1) == Indices{3, 2, 4});
  CHECK(representatives(clusters, order, 2) == Indices{3, 2, 0, 1, 4});
}

TEST_CASE("spread is the mean distance from the centre") {
  CHECK(spread(Points{{0, 0}, {0, 2}}) == 1.0);
  CHECK(spread(Points{{3, 4}}) == 0.0);
  CHECK(spread(Points{}) == 0.0);
}

}  // namespace
}  // namespace winnow
