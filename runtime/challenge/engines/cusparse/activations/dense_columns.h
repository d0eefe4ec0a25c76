// What happens to dense activations between products: rows are neurons, columns images.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "runtime/challenge/engines/cusparse/products/dense_view.h"

namespace winnow::challenge {

// z = min(32, max(0, z + bias[row] where z != 0)) in place; alive[column] = 1 for the columns that
// are then not 0 everywhere. Asynchronous.
void activate_columns(const DenseView& z, const float* bias, std::uint8_t* alive,
                      cudaStream_t stream);

// to[r][k] = from[r][kept[k]] for the columns k of `to`. Asynchronous; no overlap.
void keep_columns(const DenseView& from, const std::uint32_t* kept, const DenseView& to,
                  cudaStream_t stream);

}  // namespace winnow::challenge
