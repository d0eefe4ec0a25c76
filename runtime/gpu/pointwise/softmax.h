// Softmax on the GPU.
#pragma once

#include <cuda_runtime_api.h>

#include "runtime/gpu/layer/activation.h"

namespace winnow {

// Enqueues y = exp(x - max x) / sum exp(x - max x) over rows of `width` neighbouring elements.
//
//   in, out  [rows, width] row-major, equal element type; may be the same memory
//
// Exponentials and sums in float, in a fixed order: equal inputs give equal bits.
// Throws Error{device} if the launch is refused.
struct Rows {
  std::int64_t count = 0;
  std::int64_t width = 0;
};
void softmax(const void* in, void* out, Precision precision, const Rows& rows, cudaStream_t stream);

}  // namespace winnow
