// Division of sizes.
#pragma once

#include <concepts>
#include <cstdint>

namespace winnow {

// value / by, rounded up. Requires by > 0 and value > -by. As an int where both are.
constexpr std::int64_t divided_up(std::int64_t value, std::int64_t by) {
  return (value + by - 1) / by;
}
constexpr int divided_up(std::same_as<int> auto value, std::same_as<int> auto by) {
  return (value + by - 1) / by;
}

}  // namespace winnow
