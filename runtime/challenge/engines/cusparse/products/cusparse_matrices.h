// Our matrices as cuSPARSE's descriptors. The memory must stay while a descriptor is used.
#pragma once

#include "runtime/challenge/engines/cusparse/products/csr_matrix.h"
#include "runtime/challenge/engines/cusparse/products/cusparse_library.h"
#include "runtime/challenge/engines/cusparse/products/dense_view.h"

namespace winnow::challenge {

ConstSparseMatrix describe(const CsrView& matrix);

// A matrix that a product fills; only the row bounds, [rows + 1], have memory yet.
SparseMatrix describe_unknown(std::int32_t rows, std::int32_t columns, std::int32_t* begin);

ConstDenseMatrix describe_input(const DenseView& matrix);
DenseMatrix describe_output(const DenseView& matrix);

}  // namespace winnow::challenge
