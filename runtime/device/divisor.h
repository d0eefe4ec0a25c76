// Division by numbers that the host knows: two instructions of a kernel in place of some 25.
#pragma once

#include <bit>
#include <cstdint>

#include "runtime/base/divided_up.h"
#include "runtime/device/host_device.h"

namespace winnow {

// n / value = n * factor >> shift, for all n of 31 bits (Granlund and Montgomery, Division by
// Invariant Integers using Multiplication, section 4).
struct Divisor {
  int value = 1;
  std::uint32_t factor = 1u << 31;
  std::uint32_t shift = 31;
};

// Requires value > 0.
constexpr Divisor divisor_of(int value) {
  const auto bits = static_cast<std::uint32_t>(std::bit_width(static_cast<unsigned>(value) - 1));
  const std::int64_t power = std::int64_t{1} << (31 + bits);
  return {value, static_cast<std::uint32_t>(divided_up(power, std::int64_t{value})), 31 + bits};
}

// Requires n >= 0.
WINNOW_HOST_DEVICE constexpr int quotient(int n, const Divisor& by) {
  const std::uint64_t product = std::uint64_t{static_cast<std::uint32_t>(n)} * by.factor;
  return static_cast<int>(product >> by.shift);
}
WINNOW_HOST_DEVICE constexpr int remainder(int n, const Divisor& by) {
  return n - quotient(n, by) * by.value;
}

}  // namespace winnow
