// Sparse x dense by cuSPARSE's generic API.
#pragma once

#include <string>

#include "runtime/challenge/engines/cusparse/products/cusparse_matrices.h"

namespace winnow::challenge {

// Weights W[outputs, inputs] made ready for many products with dense matrices.
class Spmm {
 public:
  explicit Spmm(const HostCsr& weights) : weights_(weights) {}

  // Times the product z = W y with each of cuSPARSE's algorithms for CSR, and keeps the fastest.
  // Leaves the product in z. Throws Error{device} if cuSPARSE refuses all of them.
  void choose(cusparseHandle_t handle, const DenseView& y, const DenseView& z);

  // z = W y. Asynchronous on the handle's stream, but for the first product of a new number of
  // columns, which the weights may have to be preprocessed for.
  void multiply(cusparseHandle_t handle, const DenseView& y, const DenseView& z);

  // "CSR_ALG2"; empty if W has no nonzeros, so that nothing is multiplied.
  std::string algorithm() const;

 private:
  void use(cusparseSpMMAlg_t algorithm);
  void prepare(cusparseHandle_t handle, const DenseView& y, const DenseView& z);
  double time(cusparseHandle_t handle, const DenseView& y, const DenseView& z);

  DeviceCsr weights_;
  cusparseSpMMAlg_t algorithm_ = CUSPARSE_SPMM_CSR_ALG2;
  ConstSparseMatrix descriptor_;
  DeviceBuffer<std::byte> workspace_;
  std::int64_t prepared_columns_ = -1;
};

}  // namespace winnow::challenge
