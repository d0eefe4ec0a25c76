#include "runtime/challenge/engines/cusparse/spmm.h"

namespace winnow::challenge {
namespace {

// The one that is deterministic and made for matrices whose rows lie one after the other. Only ALG1
// and ALG3 gain by the preprocessing.
constexpr cusparseSpMMAlg_t kAlgorithm = CUSPARSE_SPMM_CSR_ALG2;
constexpr cusparseOperation_t kPlain = CUSPARSE_OPERATION_NON_TRANSPOSE;
constexpr float kOne = 1, kZero = 0;

}  // namespace

void Spmm::prepare(cusparseHandle_t handle, const DenseView& y, const DenseView& z) {
  if (weights_.view().nonzeros == 0) return;
  const Cusparse& cusparse = Cusparse::get();
  descriptor_ = describe(weights_.view());
  const ConstDenseMatrix input = describe_input(y);
  const DenseMatrix output = describe_output(z);
  std::size_t bytes = 0;
  CUSPARSE_CHECK(cusparse.cusparseSpMM_bufferSize(handle, kPlain, kPlain, &kOne, descriptor_.get(),
                                                  input.get(), &kZero, output.get(), CUDA_R_32F,
                                                  kAlgorithm, &bytes));
  workspace_ = DeviceBuffer<std::byte>(bytes == 0 ? 1 : bytes);
  CUSPARSE_CHECK(cusparse.cusparseSpMM_preprocess(handle, kPlain, kPlain, &kOne, descriptor_.get(),
                                                  input.get(), &kZero, output.get(), CUDA_R_32F,
                                                  kAlgorithm, workspace_.get()));
}

void Spmm::multiply(cusparseHandle_t handle, const DenseView& y, const DenseView& z) const {
  if (weights_.view().nonzeros == 0) {
    cudaStream_t stream = nullptr;
    CUSPARSE_CHECK(Cusparse::get().cusparseGetStream(handle, &stream));
    CUDA_CHECK(cudaMemset2DAsync(z.values, static_cast<std::size_t>(z.stride) * sizeof(float), 0,
                                 static_cast<std::size_t>(z.columns) * sizeof(float),
                                 static_cast<std::size_t>(z.rows), stream));
    return;
  }
  const ConstDenseMatrix input = describe_input(y);
  const DenseMatrix output = describe_output(z);
  CUSPARSE_CHECK(Cusparse::get().cusparseSpMM(handle, kPlain, kPlain, &kOne, descriptor_.get(),
                                              input.get(), &kZero, output.get(), CUDA_R_32F,
                                              kAlgorithm, workspace_.get()));
}

}  // namespace winnow::challenge
