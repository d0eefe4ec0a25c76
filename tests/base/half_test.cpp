#include "runtime/base/half.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

namespace winnow {
namespace {

__extension__ typedef _Float16 Native;  // the compiler's binary16

Half native_half(float value) {
  return {std::bit_cast<std::uint16_t>(static_cast<Native>(value))};
}

float native_float(Half value) {
  return static_cast<float>(std::bit_cast<Native>(value.bits));
}

bool is_nan(Half value) {
  return (value.bits & 0x7fff) > 0x7c00;
}

// Equal bits, or both NaN: which NaN is the compiler's choice.
bool is_same(Half a, Half b) {
  return a == b || (is_nan(a) && is_nan(b));
}

void require_as_native(float value) {
  INFO("float bits ", std::bit_cast<std::uint32_t>(value));
  REQUIRE(is_same(to_half(value), native_half(value)));
}

}  // namespace

TEST_CASE("every half converts to the float that the compiler gives and back") {
  for (std::uint32_t bits = 0; bits <= 0xffff; ++bits) {
    const Half half{static_cast<std::uint16_t>(bits)};
    const float value = to_float(half);
    if (is_nan(half)) {
      REQUIRE(std::isnan(value));
      REQUIRE(is_nan(to_half(value)));
    } else {
      REQUIRE(std::bit_cast<std::uint32_t>(value) ==
              std::bit_cast<std::uint32_t>(native_float(half)));
      REQUIRE(to_half(value) == half);
    }
  }
}

TEST_CASE(
    "floats at, just below and just above the middle of two halves round as the compiler does") {
  for (std::uint32_t bits = 0; bits < 0x7c00; ++bits) {  // the last pair: 65504 and infinity
    const float low = to_float({static_cast<std::uint16_t>(bits)});
    const float step =
        bits < 0x400 ? 0x1p-24f : std::ldexp(1.0f, static_cast<int>(bits >> 10) - 25);
    const float middle = low + step / 2;
    for (const float value : {middle, std::nextafter(middle, 0.0f), std::nextafter(middle, 1e9f)}) {
      require_as_native(value);
      require_as_native(-value);
    }
  }
}

TEST_CASE("ties go to the even half") {
  CHECK(to_half(1.0f + 0x1p-11f).bits == 0x3c00);      // between 1 and the next half
  CHECK(to_half(1.0f + 3 * 0x1p-11f).bits == 0x3c02);  // between the next two
  CHECK(to_half(0x1p-25f).bits == 0x0000);             // half of the smallest subnormal
  CHECK(to_half(3 * 0x1p-25f).bits == 0x0002);
  CHECK(to_half(65519.996f).bits == 0x7bff);  // the largest half, 65504
  CHECK(to_half(65520.0f).bits == 0x7c00);    // overflow begins here
  CHECK(to_half(-65520.0f).bits == 0xfc00);
}

TEST_CASE("zeros keep their sign, infinities and NaN stay what they are") {
  CHECK(to_half(0.0f).bits == 0x0000);
  CHECK(to_half(-0.0f).bits == 0x8000);
  CHECK(to_half(std::numeric_limits<float>::infinity()).bits == 0x7c00);
  CHECK(to_half(-std::numeric_limits<float>::infinity()).bits == 0xfc00);
  CHECK(is_nan(to_half(std::numeric_limits<float>::quiet_NaN())));
  CHECK(is_nan(to_half(std::bit_cast<float>(0x7f800001u))));  // its payload has no half bits
}

TEST_CASE("random floats of every exponent round as the compiler does") {
  std::mt19937 random(7);
  for (int i = 0; i < 2'000'000; ++i) {
    require_as_native(std::bit_cast<float>(static_cast<std::uint32_t>(random())));
  }
}

}  // namespace winnow
