#include "runtime/gpu/conv/padded_rows.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "runtime/plan/block_csr.h"
#include "tests/gpu/random_values.h"

namespace winnow {
namespace {

const char* const kEqual =
    "rows without their zeros, filled up to fours, are equally long: direct runs them so";

std::string reason_of(const Weight& weight, std::int64_t channels, bool is_asked = false,
                      std::int64_t groups = 1) {
  const Conv conv{.in_channels = 18, .out_channels = channels, .groups = groups};
  return why_not_padded(weight, conv, is_asked);
}

}  // namespace

TEST_CASE("rows are padded where they differ in length, up to one pad for a block") {
  RandomValues random(70);
  CHECK(reason_of(random.weight({16, 12, 8, 12}, 18, 8), 32) == "");
  // 48 stored, 24 kept: one pad for a block; then 17 for 7.
  CHECK(reason_of(random.weight({12, 4, 4, 4}, 18, 1), 4) == "");
  const CsrWeight skewed = random.weight({12, 4, 4, 3}, 18, 1);
  CHECK(reason_of(skewed, 4) == "the rows' lengths differ too much");
  CHECK(reason_of(skewed, 4, true) == "");
}

TEST_CASE("rows that direct runs without bounds are not padded") {
  RandomValues random(71);
  CHECK(reason_of(random.weight({8, 8, 8, 8}, 18, 1), 4) == kEqual);
  CHECK(reason_of(random.weight({8, 5, 6, 7}, 18, 1), 4) == kEqual);  // all filled up to 8
  CHECK(reason_of(random.weight({8, 8}, 18, 1), 2, true) == "");
  CHECK(reason_of(random.weight({0, 0}, 18, 1), 2) == kEqual);

  // Equally many blocks are kept, but five of the second row's are zeros, which direct drops.
  CsrWeight zeros = random.weight({8, 8}, 18, 1);
  std::vector<float> values(16, 1.0f);
  std::fill(values.begin() + 8, values.begin() + 13, 0.0f);
  zeros.values = encode_f32(values);
  CHECK(pads_per_block(zeros) == 0);
  CHECK(reason_of(zeros, 2) == "");
}

TEST_CASE("rows that cannot be padded are not, even where it is asked for") {
  RandomValues random(72);
  const Weight dense = DenseWeight{{4, 18}, encode_f32(std::vector<float>(72, 1.0f))};
  CHECK(reason_of(dense, 4, true) == "the weight is dense");
  CHECK(reason_of(random.weight({8, 4, 4}, 9, 8), 24, true, 2) ==
        "blocks of 8 channels span groups");
}

}  // namespace winnow
