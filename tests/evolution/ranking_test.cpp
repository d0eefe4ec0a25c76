#include "prune/evolution/population/ranking.h"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

namespace winnow {
namespace {

Solution solution(std::int64_t id, double sparsity, double level, std::int64_t continued = 0) {
  Solution s;
  s.id = id;
  s.density = 1.0 - sparsity;
  s.accuracy = s.level = level;
  s.continued = continued;
  return s;
}

TEST_CASE("fitness is level less what lag and an accepted child cost") {
  const Ranking ranking = {0.5, 0.25, 0.01};
  CHECK(fitness(solution(0, 0.5, 0.9), ranking) == doctest::Approx(0.9));
  CHECK(fitness(solution(0, 0.8, 0.9), ranking) == doctest::Approx(0.9));
  CHECK(fitness(solution(0, 0.0, 0.9), ranking) == doctest::Approx(0.9 - 0.25 * std::log(2.0)));
  CHECK(fitness(solution(0, 0.5, 0.9, 2), ranking) == doctest::Approx(0.88));
}

TEST_CASE("at comparable sparsity the more accurate ranks first, of equals the newest") {
  const std::vector<Solution> pool = {solution(0, 0.5, 0.8), solution(1, 0.5, 0.9),
                                      solution(2, 0.5, 0.8), solution(3, 0.1, 0.85)};
  CHECK(ranked(pool, {0.5, 0.25, 0.01}) == std::vector<std::size_t>{1, 2, 0, 3});
  CHECK(ranked(pool, {0.9, 0.25, 0.01}) == std::vector<std::size_t>{1, 3, 2, 0});
}

TEST_CASE("solutions denser than allowed rank last") {
  const std::vector<Solution> pool = {solution(0, 0.5, 0.9), solution(1, 0.6, 0.1),
                                      solution(2, 0.4, 0.95)};
  CHECK(ranked(pool, {1.0, 0.25, 0.01, 0.45}) == std::vector<std::size_t>{1, 2, 0});
  CHECK(worse(pool[2], pool[1], {1.0, 0.25, 0.01, 0.45}));
  CHECK(!worse(pool[2], pool[1], {1.0, 0.25, 0.01, 1.0}));
}

TEST_CASE("an accepted child ranks before its parent although it measured less") {
  const std::vector<Solution> pool = {solution(0, 0.5, 0.9, 1), solution(1, 0.5, 0.895)};
  CHECK(ranked(pool, {0.5, 0.25, 0.01}).front() == 1);
}

TEST_CASE("the choice prefers the first by its pressure and always takes one") {
  Random random(1);
  const std::vector<std::size_t> order = {2, 0, 1};
  std::vector<int> times(3, 0);
  for (int i = 0; i < 1000; ++i) ++times[choose_ranked(order, 0.7, random)];
  CHECK(std::abs(times[2] - 700) < 60);
  CHECK(std::abs(times[0] - 210) < 50);
  CHECK(std::abs(times[1] - 90) < 40);
  CHECK(choose_ranked(order, 1.0, random) == 2);
}

TEST_CASE("a solution dominates what is no sparser and no better") {
  const double tolerance = 0.01;
  CHECK(dominates(solution(0, 0.5, 0.9), solution(1, 0.4, 0.9), tolerance));
  CHECK(dominates(solution(0, 0.5, 0.9), solution(1, 0.5, 0.8), tolerance));
  CHECK(!dominates(solution(0, 0.5, 0.9), solution(1, 0.5, 0.9), tolerance));
  CHECK(!dominates(solution(0, 0.5, 0.9), solution(1, 0.6, 0.1), tolerance));
  CHECK(!dominates(solution(0, 0.5, 0.9, 1), solution(1, 0.5, 0.895), tolerance));
}

TEST_CASE("the reference is the best level among comparable solutions and the parent") {
  const std::vector<Solution> pool = {
      solution(0, 0.0, 0.99),   // far denser: says nothing
      solution(1, 0.45, 0.93),  // ln(0.55 / 0.5) = 0.095: comparable
      solution(2, 0.9, 0.91),   // sparser: comparable
  };
  const Ranking on_pace = {1.0, 0.25, 0.01};
  CHECK(find_reference(pool, pool[2], 0.5, 0.2, on_pace).holder == 1);
  CHECK(find_reference(pool, pool[2], 0.5, 0.2, on_pace).accuracy == 0.93);
  CHECK(find_reference(pool, pool[2], 0.5, 0.05, on_pace).holder == 2);
  CHECK(find_reference(pool, pool[0], 0.5, 0.2, on_pace).holder == 0);  // a parent counts anyway
}

TEST_CASE("a reference that lags behind the pace counts for less against a sparser solution") {
  const std::vector<Solution> pool = {solution(0, 0.5, 0.9)};
  const auto reference = [&](double density, double wanted) {
    return find_reference(pool, pool[0], density, 0.2, {wanted, 0.25, 0.01}).accuracy;
  };
  CHECK(reference(0.4, 0.5) == doctest::Approx(0.9));
  CHECK(reference(0.4, 0.4) == doctest::Approx(0.9 - 0.25 * std::log(1.25)));
  CHECK(reference(0.4, 0.1) == doctest::Approx(0.9 - 0.25 * std::log(1.25)));
  CHECK(reference(0.2, 0.4) == doctest::Approx(0.9 - 0.25 * std::log(1.25)));
  CHECK(reference(0.6, 0.1) == doctest::Approx(0.9));
}

TEST_CASE("a level takes a lucky accuracy in part and an unlucky one in full") {
  CHECK(level_after(0.8, 0.9, 0.5) == doctest::Approx(0.85));
  CHECK(level_after(0.8, 0.7, 0.5) == doctest::Approx(0.7));
  CHECK(level_after(0.8, 0.9, 1.0) == doctest::Approx(0.9));
}

}  // namespace
}  // namespace winnow
