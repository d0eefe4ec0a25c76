#include "runtime/challenge/engines/cusparse/products/cusparse_matrices.h"

namespace winnow::challenge {
namespace {

constexpr cusparseIndexType_t kIndex = CUSPARSE_INDEX_32I;
constexpr cusparseIndexBase_t kFrom0 = CUSPARSE_INDEX_BASE_ZERO;

}  // namespace

ConstSparseMatrix describe(const CsrView& m) {
  cusparseConstSpMatDescr_t made = nullptr;
  CUSPARSE_CHECK(Cusparse::get().cusparseCreateConstCsr(&made, m.rows, m.columns, m.nonzeros,
                                                        m.begin, m.column, m.value, kIndex, kIndex,
                                                        kFrom0, CUDA_R_32F));
  return ConstSparseMatrix(made);
}

SparseMatrix describe_unknown(std::int32_t rows, std::int32_t columns, std::int32_t* begin) {
  cusparseSpMatDescr_t made = nullptr;
  CUSPARSE_CHECK(Cusparse::get().cusparseCreateCsr(&made, rows, columns, 0, begin, nullptr, nullptr,
                                                   kIndex, kIndex, kFrom0, CUDA_R_32F));
  return SparseMatrix(made);
}

ConstDenseMatrix describe_input(const DenseView& m) {
  cusparseConstDnMatDescr_t made = nullptr;
  CUSPARSE_CHECK(Cusparse::get().cusparseCreateConstDnMat(
      &made, m.rows, m.columns, m.stride, m.values, CUDA_R_32F, CUSPARSE_ORDER_ROW));
  return ConstDenseMatrix(made);
}

DenseMatrix describe_output(const DenseView& m) {
  cusparseDnMatDescr_t made = nullptr;
  CUSPARSE_CHECK(Cusparse::get().cusparseCreateDnMat(&made, m.rows, m.columns, m.stride, m.values,
                                                     CUDA_R_32F, CUSPARSE_ORDER_ROW));
  return DenseMatrix(made);
}

}  // namespace winnow::challenge
