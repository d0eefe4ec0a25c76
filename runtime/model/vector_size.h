// How many neighbouring output channels may share a mask bit.
#pragma once

#include <cstdint>

namespace winnow {

inline constexpr const char* kVectorSizes = "1, 8, 16 or 32";

constexpr bool is_vector_size(std::int64_t channels) {
  return channels == 1 || channels == 8 || channels == 16 || channels == 32;
}

}  // namespace winnow
