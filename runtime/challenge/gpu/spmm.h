// Sparse x dense by cuSPARSE's generic API.
#pragma once

#include "runtime/challenge/gpu/csr_matrix.h"
#include "runtime/challenge/gpu/cusparse_library.h"

namespace winnow::challenge {

// A dense matrix in device memory, rows one after the other: element (r, c) at r * stride + c.
struct DenseView {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t stride = 0;  // >= columns
  float* values = nullptr;
};

// Weights W[outputs, inputs] made ready for many products with dense matrices.
class Spmm {
 public:
  explicit Spmm(const HostCsr& weights) : weights_(weights) {}

  // Takes the workspace and preprocesses the weights for products of the shape of z = W y; the
  // matrices' values are not touched.
  void prepare(cusparseHandle_t handle, const DenseView& y, const DenseView& z);

  // z = W y, with at most as many columns as prepared for. Asynchronous on the handle's stream.
  void multiply(cusparseHandle_t handle, const DenseView& y, const DenseView& z) const;

 private:
  DeviceCsr weights_;
  ConstSparseMatrix descriptor_;
  DeviceBuffer<std::byte> workspace_;
};

}  // namespace winnow::challenge
