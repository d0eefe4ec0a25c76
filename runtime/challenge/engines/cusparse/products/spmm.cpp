#include "runtime/challenge/engines/cusparse/products/spmm.h"

#include <algorithm>
#include <exception>
#include <limits>

#include "runtime/base/error.h"
#include "runtime/device/stream.h"

namespace winnow::challenge {
namespace {

// All that take a CSR matrix; the first is the default of later products.
constexpr cusparseSpMMAlg_t kAlgorithms[] = {CUSPARSE_SPMM_CSR_ALG2, CUSPARSE_SPMM_CSR_ALG1,
                                             CUSPARSE_SPMM_CSR_ALG3};
constexpr cusparseOperation_t kNotTransposed = CUSPARSE_OPERATION_NON_TRANSPOSE;
constexpr float kOne = 1, kZero = 0;
constexpr int kTimedProducts = 5;

cudaStream_t stream_of(cusparseHandle_t handle) {
  cudaStream_t stream = nullptr;
  CUSPARSE_CHECK(Cusparse::get().cusparseGetStream(handle, &stream));
  return stream;
}

}  // namespace

void Spmm::choose(cusparseHandle_t handle, const DenseView& y, const DenseView& z, SpmmPlan& plan) {
  if (weights_.view().nonzeros == 0) return multiply(handle, y, z, plan);
  double best_ms = std::numeric_limits<double>::infinity();
  cusparseSpMMAlg_t best = kAlgorithms[0];
  std::exception_ptr refusal;
  for (const cusparseSpMMAlg_t algorithm : kAlgorithms) {
    algorithm_ = algorithm;
    try {
      const double ms = time(handle, y, z, plan);
      if (ms < best_ms) best = algorithm;
      best_ms = std::min(best_ms, ms);
    } catch (const Error&) {
      refusal = std::current_exception();
    }
  }
  if (best_ms == std::numeric_limits<double>::infinity()) std::rethrow_exception(refusal);
  algorithm_ = best;
  multiply(handle, y, z, plan);
}

void Spmm::multiply(cusparseHandle_t handle, const DenseView& y, const DenseView& z,
                    SpmmPlan& plan) const {
  if (weights_.view().nonzeros == 0) {
    CUDA_CHECK(cudaMemset2DAsync(z.values, static_cast<std::size_t>(z.stride) * sizeof(float), 0,
                                 static_cast<std::size_t>(z.columns) * sizeof(float),
                                 static_cast<std::size_t>(z.rows), stream_of(handle)));
    return;
  }
  if (plan.columns != y.columns || plan.algorithm != algorithm_) prepare(handle, y, z, plan);
  const ConstDenseMatrix input = describe_input(y);
  const DenseMatrix output = describe_output(z);
  CUSPARSE_CHECK(Cusparse::get().cusparseSpMM(handle, kNotTransposed, kNotTransposed, &kOne,
                                              plan.weights.get(), input.get(), &kZero, output.get(),
                                              CUDA_R_32F, algorithm_, plan.workspace.get()));
}

std::string Spmm::algorithm() const {
  if (weights_.view().nonzeros == 0) return "";
  switch (algorithm_) {
    case CUSPARSE_SPMM_CSR_ALG1:
      return "CSR_ALG1";
    case CUSPARSE_SPMM_CSR_ALG2:
      return "CSR_ALG2";
    case CUSPARSE_SPMM_CSR_ALG3:
      return "CSR_ALG3";
    default:
      fail(ErrorCode::internal, "unknown SpMM algorithm");
  }
}

// What the preprocessing stores holds for products of this shape only.
void Spmm::prepare(cusparseHandle_t handle, const DenseView& y, const DenseView& z,
                   SpmmPlan& plan) const {
  const Cusparse& cusparse = Cusparse::get();
  const ConstDenseMatrix input = describe_input(y);
  const DenseMatrix output = describe_output(z);
  if (plan.algorithm != algorithm_) plan = SpmmPlan();  // the workspace is of another size
  plan.algorithm = algorithm_;
  plan.columns = -1;  // until all of it is done
  plan.weights = describe(weights_.view());
  std::size_t bytes = 0;
  CUSPARSE_CHECK(cusparse.cusparseSpMM_bufferSize(handle, kNotTransposed, kNotTransposed, &kOne,
                                                  plan.weights.get(), input.get(), &kZero,
                                                  output.get(), CUDA_R_32F, algorithm_, &bytes));
  bytes = std::max<std::size_t>(bytes, 1);
  if (plan.workspace.bytes() < bytes) plan.workspace = DeviceBuffer<std::byte>(bytes);
  CUSPARSE_CHECK(cusparse.cusparseSpMM_preprocess(
      handle, kNotTransposed, kNotTransposed, &kOne, plan.weights.get(), input.get(), &kZero,
      output.get(), CUDA_R_32F, algorithm_, plan.workspace.get()));
  plan.columns = y.columns;
}

// Milliseconds of one product; the first, which loads code, is not counted.
double Spmm::time(cusparseHandle_t handle, const DenseView& y, const DenseView& z,
                  SpmmPlan& plan) const {
  multiply(handle, y, z, plan);
  const cudaStream_t stream = stream_of(handle);
  const Event begin, end;
  begin.record(stream);
  for (int i = 0; i < kTimedProducts; ++i) multiply(handle, y, z, plan);
  end.record(stream);
  return milliseconds_between(begin, end) / kTimedProducts;
}

}  // namespace winnow::challenge
