// Rows in which the inputs of a layer lie.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

namespace winnow {

inline std::vector<std::uint32_t> identity(std::uint32_t count) {
  std::vector<std::uint32_t> position(count);
  std::iota(position.begin(), position.end(), 0u);
  return position;
}

inline std::vector<std::uint32_t> shuffled(std::uint32_t count, std::mt19937& random) {
  std::vector<std::uint32_t> position = identity(count);
  std::ranges::shuffle(position, random);
  return position;
}

}  // namespace winnow
