// Sparse x dense by cuSPARSE's generic API.
#pragma once

#include <string>

#include "runtime/challenge/engines/cusparse/products/cusparse_matrices.h"

namespace winnow::challenge {

// What cuSPARSE has prepared for products of one matrix of weights with matrices of one shape, and
// the workspace of these products: for one stream.
struct SpmmPlan {
  cusparseSpMMAlg_t algorithm = CUSPARSE_SPMM_ALG_DEFAULT;
  std::int64_t columns = -1;
  ConstSparseMatrix weights;
  DeviceBuffer<std::byte> workspace;
};

// Weights W[outputs, inputs] made ready for many products with dense matrices. The plan of a call
// is made anew where it is for other products; products at the same time need a plan each.
class Spmm {
 public:
  explicit Spmm(const HostCsr& weights) : weights_(weights) {}

  // Times the product z = W y with each of cuSPARSE's algorithms for CSR, and keeps the fastest.
  // Leaves the product in z. Throws Error{device} if cuSPARSE refuses all of them.
  void choose(cusparseHandle_t handle, const DenseView& y, const DenseView& z, SpmmPlan& plan);

  // z = W y. Asynchronous on the handle's stream, but for the first product of a new number of
  // columns, which the weights may have to be preprocessed for.
  void multiply(cusparseHandle_t handle, const DenseView& y, const DenseView& z,
                SpmmPlan& plan) const;

  // "CSR_ALG2"; empty if W has no nonzeros, so that nothing is multiplied.
  std::string algorithm() const;

 private:
  void prepare(cusparseHandle_t handle, const DenseView& y, const DenseView& z,
               SpmmPlan& plan) const;
  double time(cusparseHandle_t handle, const DenseView& y, const DenseView& z,
              SpmmPlan& plan) const;

  DeviceCsr weights_;
  cusparseSpMMAlg_t algorithm_ = CUSPARSE_SPMM_CSR_ALG2;
};

}  // namespace winnow::challenge
