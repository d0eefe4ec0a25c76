// The row numbers of a step, as all layers keep them: four of 16 bits in two words.
#pragma once

#include <cstdint>

namespace winnow {

struct StepRows {
  std::uint32_t of[4];
};

__device__ __forceinline__ StepRows step_rows(const uint2& words) {
  return {{words.x & 0xffff, words.x >> 16, words.y & 0xffff, words.y >> 16}};
}

}  // namespace winnow
