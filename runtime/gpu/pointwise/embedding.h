// Table look-up on the GPU.
#pragma once

#include <cuda_runtime_api.h>

#include "runtime/gpu/layer/activation.h"

namespace winnow {

// Enqueues out[n, d, l] = table[tokens[n, l], d].
//
//   tokens  [N, L] float, integers in [0, rows); others are read as the nearest row
//   table   [rows, width] float
//   out     [N, width, L] in any format
//
// Throws Error{device} if the launch is refused.
struct EmbeddingTable {
  const float* values = nullptr;  // device
  std::int64_t rows = 0;
};
void embedding(const EmbeddingTable& table, const float* tokens, const ActivationView& out,
               cudaStream_t stream);

}  // namespace winnow
