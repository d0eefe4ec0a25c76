#include "runtime/device/divisor.h"

#include <doctest/doctest.h>

#include <limits>

#include "tests/gpu/random_values.h"

namespace winnow {

TEST_CASE("a product and a shift divide all numbers of 31 bits") {
  constexpr int kMost = std::numeric_limits<int>::max();
  const auto check = [](int n, int by) {
    const Divisor divisor = divisor_of(by);
    const bool is_right = quotient(n, divisor) == n / by && remainder(n, divisor) == n % by;
    if (is_right) return;
    CAPTURE(n);
    CAPTURE(by);
    CHECK(is_right);
  };
  for (int by = 1; by <= 300; ++by) {
    for (int n = 0; n <= 1000; ++n) check(n, by);
  }
  RandomValues random(7);
  for (int i = 0; i < 20000; ++i) {
    const int bits = random.below(31);
    const int by = static_cast<int>(random.below(std::size_t{1} << bits)) + 1;
    const int n = static_cast<int>(random.below(kMost));
    for (const int near : {n, n / by * by, n / by * by - 1, kMost}) check(near < 0 ? 0 : near, by);
  }
  for (const int by : {1 << 30, (1 << 30) - 1, (1 << 30) + 1, kMost - 1, kMost}) {
    for (const int n : {0, 1, by - 1, by, kMost - 1, kMost}) check(n, by);
  }
  static_assert(quotient(41, divisor_of(7)) == 5);
}

}  // namespace winnow
