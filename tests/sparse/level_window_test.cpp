#include "runtime/sparse/level_window.h"

#include <doctest/doctest.h>

#include <limits>
#include <random>

namespace winnow {
namespace {

struct Candidate {
  std::uint32_t output;
  BankCounts counts;
};

// groups * sum of n^2 - (sum of n)^2 in whole numbers.
std::int64_t unevenness(const BankCounts& a, const BankCounts& b, std::uint32_t groups) {
  std::int64_t sum = 0, squares = 0;
  for (std::uint32_t c = 0; c < groups; ++c) {
    const std::int64_t n = std::int64_t{a[c]} + b[c];
    sum += n;
    squares += n * n;
  }
  return squares * groups - sum * sum;
}

std::size_t first_most_even(const std::vector<Candidate>& candidates, const BankCounts& total,
                            std::uint32_t groups) {
  std::size_t best = 0;
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const std::int64_t found = unevenness(total, candidates[i].counts, groups);
    if (found < least) least = found, best = i;
  }
  return best;
}

BankCounts random_counts(std::uint32_t groups, std::uint32_t most, std::mt19937& random) {
  BankCounts counts{};
  for (std::uint32_t c = 0; c < groups; ++c) counts[c] = random() % (most + 1);
  return counts;
}

}  // namespace

TEST_CASE("the output that levels best is found, the first of several, while outputs come and go") {
  std::mt19937 random(11);
  for (const std::uint32_t groups : {2u, 4u, 8u}) {
    for (const std::uint32_t most : {1u, 6u, 60u}) {  // few values: many are equally good
      CAPTURE(groups);
      CAPTURE(most);
      LevelWindow window(groups);
      std::vector<Candidate> expected;
      std::uint32_t next = 0;
      for (int turn = 0; turn < 600; ++turn) {
        const bool comes =
            !window.is_full() && (window.is_empty() || turn < 260 || random() % 3 == 0);
        if (comes) {
          expected.push_back({next, random_counts(groups, most, random)});
          window.push(next++, expected.back().counts);
          continue;
        }
        const BankCounts total = random_counts(groups, 3 * most, random);
        const std::size_t i = first_most_even(expected, total, groups);
        REQUIRE(window.most_even(total) == i);
        REQUIRE(window.take(i) == expected[i].output);
        expected.erase(expected.begin() + static_cast<std::ptrdiff_t>(i));
      }
      CHECK(next > LevelWindow::kMost);
    }
  }
}

TEST_CASE("the last output of a window can be taken") {
  LevelWindow window(8);
  window.push(7, {1, 2});
  CHECK(window.most_even({}) == 0);
  CHECK(window.take(0) == 7);
  CHECK(window.is_empty());
}

}  // namespace winnow
