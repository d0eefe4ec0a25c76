// Sparse x dense by cuSPARSE's generic API.
#pragma once

#include "runtime/challenge/engines/cusparse/cusparse_matrices.h"

namespace winnow::challenge {

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
