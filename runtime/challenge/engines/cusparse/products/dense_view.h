// A dense matrix in device memory.
#pragma once

#include <cstdint>

namespace winnow::challenge {

// Rows one after the other: element (r, c) at r * stride + c.
struct DenseView {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t stride = 0;  // >= columns
  float* values = nullptr;
};

}  // namespace winnow::challenge
