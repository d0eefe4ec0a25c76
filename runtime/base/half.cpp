#include "runtime/base/half.h"

#include <bit>

namespace winnow {
namespace {

constexpr std::uint32_t kSignMask = 0x8000'0000u;
constexpr std::uint32_t kInfinity = 0x7f80'0000u;
constexpr std::uint32_t kOverflow = 0x4780'0000u;        // 2^16: rounds to half infinity or beyond
constexpr std::uint32_t kSmallestNormal = 0x3880'0000u;  // 2^-14
constexpr float kSubnormalMagic = 0.5f;                  // its last bit weighs 2^-24

}  // namespace

Half to_half(float value) {
  const std::uint32_t word = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>((word & kSignMask) >> 16);
  const std::uint32_t magnitude = word & ~kSignMask;
  if (magnitude > kInfinity) return {static_cast<std::uint16_t>(sign | 0x7e00u)};
  if (magnitude >= kOverflow) return {static_cast<std::uint16_t>(sign | 0x7c00u)};
  if (magnitude < kSmallestNormal) {
    // The addition rounds to a multiple of 2^-24, the spacing of subnormal halves.
    const float shifted = std::bit_cast<float>(magnitude) + kSubnormalMagic;
    const std::uint32_t bits =
        std::bit_cast<std::uint32_t>(shifted) - std::bit_cast<std::uint32_t>(kSubnormalMagic);
    return {static_cast<std::uint16_t>(sign | bits)};
  }
  const std::uint32_t odd = (magnitude >> 13) & 1u;
  const std::uint32_t rounded = magnitude - (112u << 23) + 0x0fffu + odd;
  return {static_cast<std::uint16_t>(sign | (rounded >> 13))};
}

float to_float(Half value) {
  const std::uint32_t sign = (value.bits & 0x8000u) << 16;
  const std::uint32_t exponent = (value.bits >> 10) & 0x1fu;
  const std::uint32_t fraction = value.bits & 0x3ffu;
  if (exponent == 0) {
    const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(magnitude));
  }
  const std::uint32_t wide = exponent == 0x1f ? 0xffu : exponent + 112u;
  return std::bit_cast<float>(sign | (wide << 23) | (fraction << 13));
}

HalfTerms half_terms(float value) {
  const Half high = to_half(value);
  return {high, to_half(value - to_float(high))};
}

}  // namespace winnow
