// What happens to sparse activations between products. All asynchronous, all in device memory.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "runtime/challenge/engines/cusparse/products/csr_matrix.h"
#include "runtime/challenge/engines/gpu/device_images.h"

namespace winnow::challenge {

struct RowBounds {
  std::uint32_t first, last;  // images
  std::uint64_t first_one;    // where their ones begin
  std::uint64_t ones;         // how many they have
};

// Images [first, last) as a matrix of ones.
void load_rows(const DeviceImages& images, RowBounds rows, std::int32_t* begin,
               std::int32_t* column, float* value, cudaStream_t stream);

// How many values of each row of z stay when the activation min(32, max(0, z + bias where z != 0))
// has made zeros: counts[rows + 1], the last one 0.
void count_activated(const CsrView& z, const float* bias, std::int32_t* counts,
                     cudaStream_t stream);

// Writes the values that stay, in order, with their columns: those of row r from begin[r] on.
void store_activated(const CsrView& z, const float* bias, const std::int32_t* begin,
                     std::int32_t* column, float* value, cudaStream_t stream);

// alive[r] = whether row r has values.
void flag_rows(const std::int32_t* begin, std::int32_t rows, std::uint8_t* alive,
               cudaStream_t stream);

// Bounds of the rows that are kept, where the others are empty: kept_begin[k] = begin[kept_row[k]]
// for k < *kept, and kept_begin[*kept] = begin[rows].
void gather_bounds(const std::int32_t* begin, std::int32_t rows, const std::uint32_t* kept_row,
                   const std::uint32_t* kept, std::int32_t* kept_begin, cudaStream_t stream);

// rebased[i] = begin[i] - begin[0] for i <= rows.
void rebase_bounds(const std::int32_t* begin, std::int32_t rows, std::int32_t* rebased,
                   cudaStream_t stream);

}  // namespace winnow::challenge
