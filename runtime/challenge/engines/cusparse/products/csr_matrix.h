// Sparse matrices as cuSPARSE takes them: CSR with 32-bit signed indices.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/challenge/network.h"
#include "runtime/device/buffer.h"

namespace winnow::challenge {

// The most nonzeros of a matrix: a warp's step past the last one is still counted by 31 bits.
inline constexpr std::int32_t kMostNonzeros = INT32_MAX - 64;

struct HostCsr {
  std::int32_t rows = 0;
  std::int32_t columns = 0;
  std::vector<std::int32_t> begin;   // [rows + 1]
  std::vector<std::int32_t> column;  // [nonzeros], ascending within a row
  std::vector<float> value;          // [nonzeros]
};

// The weights W[inputs, outputs] of Z = Y W. Throws Error{usage} if they are more than
// kMostNonzeros.
HostCsr weights_by_input(const SparseLayer& layer);

// The transpose, W[outputs, inputs].
HostCsr weights_by_output(const SparseLayer& layer);

// In device memory.
struct CsrView {
  std::int32_t rows = 0;
  std::int32_t columns = 0;
  std::int32_t nonzeros = 0;
  const std::int32_t* begin = nullptr;   // [rows + 1], from 0
  const std::int32_t* column = nullptr;  // [nonzeros]
  const float* value = nullptr;          // [nonzeros]
};

class DeviceCsr {
 public:
  explicit DeviceCsr(const HostCsr& matrix);

  CsrView view() const;
  std::int32_t longest_row() const { return longest_row_; }

 private:
  std::int32_t rows_, columns_, longest_row_;
  DeviceBuffer<std::int32_t> begin_, column_;
  DeviceBuffer<float> value_;
};

}  // namespace winnow::challenge
