#include "runtime/base/random.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace winnow {
namespace {

TEST_CASE("SplitMix64 gives the published sequence of seed 1234567") {
  SplitMix64 words(1234567);  // rosettacode.org/wiki/Pseudo-random_numbers/Splitmix64
  CHECK(words.next() == 6457827717110365317u);
  CHECK(words.next() == 3203168211198807973u);
  CHECK(words.next() == 9817491932198370423u);
  CHECK(words.next() == 4593380528125082431u);
  CHECK(words.next() == 16408922859458223821u);
}

TEST_CASE("Random steps xoshiro256** as computed by hand from the state 1 2 3 4") {
  Random random = Random::from_state({1, 2, 3, 4});
  CHECK(random.bits() == 11520u);  // rotl(2 * 5, 7) * 9 = 1280 * 9
  CHECK(random.state() ==
        Random::State{1 ^ 4 ^ 2, 2 ^ 3 ^ 1, 3 ^ 1 ^ (2 << 17), std::uint64_t{4 ^ 2} << 45});
  CHECK(random.bits() == 0u);  // the second word is 2 ^ 3 ^ 1 = 0
  CHECK(random.bits() == 1509978240u);
  CHECK(random.bits() == 1215971899390074240u);
}

TEST_CASE("Random goes on from a saved state") {
  Random random(5);
  for (int i = 0; i < 7; ++i) random.normal();
  Random resumed = Random::from_state(random.state());
  for (int i = 0; i < 100; ++i) CHECK(resumed.normal() == random.normal());
}

TEST_CASE("Random gives other sequences for other seeds and streams") {
  CHECK(Random(1).bits() == Random(1, 0).bits());
  CHECK(Random(1).bits() != Random(2).bits());
  CHECK(Random(1, 1).bits() != Random(1, 2).bits());
  CHECK(Random(1, 2).bits() != Random(2, 1).bits());
}

TEST_CASE("below is uniform over a bound that does not divide 2^64") {
  constexpr int kBound = 7, kDraws = 70000;
  Random random(11);
  std::vector<int> hits(kBound);
  for (int i = 0; i < kDraws; ++i) ++hits[random.below(kBound)];
  // Five standard deviations of a binomial count with p = 1 / 7.
  const double slack = 5 * std::sqrt(kDraws * (1.0 / kBound) * (1 - 1.0 / kBound));
  for (int count : hits) CHECK(std::abs(count - kDraws / kBound) < slack);
}

TEST_CASE("below draws again where the remainder would favour small numbers") {
  // With this bound a quarter of all words would be too many for the low third of the range.
  constexpr std::uint64_t kBound = 3u * (std::uint64_t{1} << 62);
  Random random(3);
  int low = 0;
  for (int i = 0; i < 30000; ++i) low += random.below(kBound) < kBound / 3 ? 1 : 0;
  CHECK(std::abs(low - 10000) < 5 * std::sqrt(30000 * 2.0 / 9));  // a plain remainder gives 15000
}

TEST_CASE("between reaches both ends, of the whole range too") {
  Random random(4);
  std::vector<int> hits(3);
  for (int i = 0; i < 100; ++i) ++hits[static_cast<std::size_t>(random.between(-1, 1) + 1)];
  CHECK(*std::min_element(hits.begin(), hits.end()) > 0);
  CHECK(random.between(9, 9) == 9);
  bool negative = false, positive = false;
  for (int i = 0; i < 64; ++i) {
    const std::int64_t drawn = random.between(std::numeric_limits<std::int64_t>::min(),
                                              std::numeric_limits<std::int64_t>::max());
    (drawn < 0 ? negative : positive) = true;
  }
  CHECK((negative && positive));
}

TEST_CASE("uniform lies between 0 and 1 and chance of 0 and 1 is certain") {
  Random random(6);
  double sum = 0;
  for (int i = 0; i < 10000; ++i) {
    const double drawn = random.uniform();
    REQUIRE(drawn >= 0);
    REQUIRE(drawn < 1);
    sum += drawn;
    REQUIRE(random.chance(1));
    REQUIRE_FALSE(random.chance(0));
  }
  CHECK(std::abs(sum / 10000 - 0.5) < 5 * std::sqrt(1.0 / 12 / 10000));
}

TEST_CASE("normal has mean 0, variance 1 and the tails of a normal distribution") {
  constexpr int kDraws = 100000;
  Random random(8);
  double sum = 0, squares = 0;
  int beyond_two = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double drawn = random.normal();
    sum += drawn;
    squares += drawn * drawn;
    beyond_two += std::abs(drawn) > 2 ? 1 : 0;
  }
  CHECK(std::abs(sum / kDraws) < 5 / std::sqrt(kDraws));
  CHECK(std::abs(squares / kDraws - 1) < 5 * std::sqrt(2.0 / kDraws));
  CHECK(beyond_two / double{kDraws} == doctest::Approx(std::erfc(2 / std::sqrt(2))).epsilon(0.05));
}

TEST_CASE("permutation holds each index once and every order of three comes up") {
  Random random(9);
  std::vector<std::int64_t> order = permutation(1000, random);
  CHECK_FALSE(std::is_sorted(order.begin(), order.end()));
  std::sort(order.begin(), order.end());
  for (std::int64_t i = 0; i < 1000; ++i) CHECK(order[static_cast<std::size_t>(i)] == i);
  CHECK(permutation(0, random).empty());

  std::vector<int> hits(27);
  for (int i = 0; i < 6000; ++i) {
    const auto three = permutation(3, random);
    ++hits[static_cast<std::size_t>(three[0] * 9 + three[1] * 3 + three[2])];
  }
  const auto seen = std::count_if(hits.begin(), hits.end(), [](int n) { return n > 0; });
  CHECK(seen == 6);
  for (int count : hits) CHECK((count == 0 || std::abs(count - 1000) < 150));
}

}  // namespace
}  // namespace winnow
