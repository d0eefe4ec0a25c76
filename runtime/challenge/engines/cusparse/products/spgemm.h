// Sparse x sparse by cuSPARSE's generic API.
#pragma once

#include <optional>

#include "runtime/challenge/engines/cusparse/products/cusparse_matrices.h"
#include "runtime/challenge/engines/cusparse/products/scratch.h"

namespace winnow::challenge {

class Spgemm {
 public:
  explicit Spgemm(cudaStream_t stream) : handle_(make_cusparse_handle(stream)) {}

  // a b, columns ascending within a row; nothing if cuSPARSE or memory is too small for the work.
  // Requires that a and b have nonzeros. The product lies in memory of this object and stays until
  // the next call, as does the workspace, which grows as needed.
  std::optional<CsrView> multiply(const CsrView& a, const CsrView& b);

  // Frees the workspace and the product.
  void release();

  std::string name() const { return cusparse_name(handle_.get()); }

 private:
  CusparseHandle handle_;
  Scratch<std::byte> estimation_, computation_;
  Scratch<std::int32_t> begin_, column_;
  Scratch<float> value_;
};

}  // namespace winnow::challenge
