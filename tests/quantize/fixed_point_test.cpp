#include "quantize/fixed_point.h"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "runtime/base/random.h"
#include "tests/throws.h"

namespace winnow {
namespace {

TEST_CASE("eq 6 gives the bits of worked examples") {
  CHECK(format_for_range(0.75, 8).frac_bits == 7);         // ceil(log2 0.75) = 0
  CHECK(format_for_range(3.0, 8).frac_bits == 5);          // 2
  CHECK(format_for_range(100.0, 16).frac_bits == 8);       // 7
  CHECK(format_for_range(0.05, 8).frac_bits == 11);        // -4: more fractional bits than bits
  CHECK(format_for_range(1000.0, 4).frac_bits == -7);      // 10: steps of 128
  CHECK(format_for_range(0.0, 8).frac_bits == 7);          // nothing to represent: 0
  CHECK(format_for_range(0x1p-140, 16).frac_bits == 155);  // a subnormal float
}

TEST_CASE("eq 6 is exact at powers of two") {
  for (int k = -20; k <= 20; ++k) {
    CAPTURE(k);
    const double power = std::ldexp(1.0, k);
    CHECK(format_for_range(power, 16).frac_bits == 15 - k);
    CHECK(format_for_range(std::nextafter(power, 0.0), 16).frac_bits == 15 - k);
    CHECK(format_for_range(std::nextafter(power, 2 * power), 16).frac_bits == 14 - k);
  }
}

TEST_CASE("a maximum that is a power of two saturates by one step, its negative fits") {
  const FixedPoint format = format_for_range(1.0, 8);
  CHECK(to_code(1.0f, format) == 127);
  CHECK(to_code(-1.0f, format) == -128);
}

TEST_CASE("eq 5 rounds halves to even and saturates") {
  const FixedPoint format{8, 2};  // steps of 0.25, codes -128 to 127
  CHECK(to_code(0.3f, format) == 1);
  CHECK(to_code(0.625f, format) == 2);  // 2.5 steps
  CHECK(to_code(0.875f, format) == 4);  // 3.5 steps
  CHECK(to_code(-0.625f, format) == -2);
  CHECK(to_code(31.9f, format) == 127);
  CHECK(to_code(1e30f, format) == 127);
  CHECK(to_code(-1e30f, format) == -128);
}

TEST_CASE("values are rounded to those of their codes") {
  std::vector<float> values = {0.3f, 0.125f, 0.375f, 100, -100, 0};
  round_to({8, 2}, values);
  CHECK(values == std::vector<float>{0.25f, 0, 0.5f, 127.0f / 4, -32, 0});
  std::vector<float> large = {1000, -5000}, small = {0x1p-147f, 0x1p-141f};
  round_to({8, -4}, large);
  CHECK(large == std::vector<float>{992, -2048});  // 62 and -128 steps of 16
  round_to({16, 145}, small);
  CHECK(small == std::vector<float>{0, 0x1p-141f});
}

TEST_CASE("no value is off by more than half a step unless it saturates") {
  Random random(3);
  for (int round = 0; round < 300; ++round) {
    const int bits = static_cast<int>(random.between(2, 16));
    const double range = std::exp2(random.uniform(-30, 30));
    const FixedPoint format = format_for_range(range, bits);
    CAPTURE(bits);
    CAPTURE(range);
    for (int i = 0; i < 20; ++i) {
      const auto x = static_cast<float>(random.uniform(-range, range));
      const double back = to_code(x, format) * format.step();
      const bool saturates = x > (format.highest() + 0.5) * format.step();
      CHECK(std::abs(static_cast<double>(x) - back) <= (saturates ? 1.0 : 0.5) * format.step());
    }
  }
}

// 2048 bins up to 8; nearly all values below 1, `outliers` at 7.99.
Histogram with_outliers(std::int64_t outliers) {
  Histogram histogram{7.99, 8, std::vector<std::int64_t>(2048)};
  for (std::size_t i = 0; i < 255; ++i) histogram.bins[i] = 1000;
  histogram.bins[2045] = outliers;
  return histogram;
}

TEST_CASE("the maximum rule covers outliers that the percentile rule lets saturate") {
  CHECK(format_for_histogram(with_outliers(3), 8, RangeRule::maximum).frac_bits == 4);
  CHECK(format_for_histogram(with_outliers(3), 8, RangeRule::percentile).frac_bits == 7);
  CHECK(format_for_histogram(with_outliers(5000), 8, RangeRule::percentile).frac_bits == 4);
}

TEST_CASE("the least error rule lets few outliers saturate and covers many") {
  // 8 bits, range 8: steps of 1/16, error 1/3072 for each of 255,000 values, in all 83. One
  // outlier at 7.99 costs (7.99 - 3.97)^2 = 16 when the range is halved, which saves 62 of the 83.
  CHECK(format_for_histogram(with_outliers(1), 8, RangeRule::least_error).frac_bits == 5);
  CHECK(format_for_histogram(with_outliers(100), 8, RangeRule::least_error).frac_bits == 4);
  CHECK(format_for_histogram(with_outliers(0), 8, RangeRule::least_error).frac_bits == 7);
}

TEST_CASE("formats that do not exist are refused") {
  CHECK(error_of([] { format_for_range(1, 1); }) == ErrorCode::usage);
  CHECK(error_of([] { format_for_range(1, 17); }) == ErrorCode::usage);
  CHECK(error_of([] { format_for_range(-1, 8); }) == ErrorCode::usage);
  CHECK(error_of([] { format_for_range(INFINITY, 8); }) == ErrorCode::usage);
  CHECK(message_of([] { range_rule_from("mes"); }).find("did you mean 'mse'") != std::string::npos);
}

}  // namespace
}  // namespace winnow
