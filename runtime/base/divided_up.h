// Division of sizes.
#pragma once

#include <cstdint>

namespace winnow {

// value / by, rounded up. Requires by > 0 and value > -by.
constexpr std::int64_t divided_up(std::int64_t value, std::int64_t by) {
  return (value + by - 1) / by;
}

}  // namespace winnow
