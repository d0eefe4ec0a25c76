#include "runtime/bench/random_weight.h"

#include <doctest/doctest.h>

#include "runtime/plan/block_csr.h"

namespace winnow {
namespace {

double density(const CsrWeight& weight) {
  double kept = 0;
  const std::vector<float> values = decode(weight.values);
  for (const float value : values) kept += value != 0 ? 1 : 0;
  return kept / static_cast<double>(weight.channels * weight.cols);
}

}  // namespace

TEST_CASE("a balanced random mask needs no pads and keeps the share that was asked for") {
  for (const int vector : {1, 8, 16}) {
    CAPTURE(vector);
    const CsrWeight weight = random_weight({64, 200, vector}, 0.9, RandomMask::balanced, 7);
    CHECK(weight.row_length == 20);
    CHECK(pads_per_block(weight) == 0);
    CHECK(density(weight) == doctest::Approx(0.1).epsilon(0.02));  // a random value may be zero
  }
}

TEST_CASE("an independent random mask has rows of different lengths") {
  const CsrWeight weight = random_weight({64, 200, 1}, 0.9, RandomMask::independent, 7);
  CHECK(pads_per_block(weight) > 0.1);
  CHECK(density(weight) == doctest::Approx(0.1).epsilon(0.1));
}

TEST_CASE("a balanced random mask keeps a block of every row at any sparsity") {
  const CsrWeight weight = random_weight({8, 10, 1}, 1.0, RandomMask::balanced, 1);
  CHECK(weight.row_length == 1);
}

}  // namespace winnow
