// Sparse times dense by cuSPARSE on gathered columns of half floats, with sums in fp32.
#include <array>
#include <utility>

#include "runtime/base/error.h"
#include "runtime/bench/rivals/rival.h"
#include "runtime/challenge/engines/cusparse/products/cusparse_library.h"
#include "runtime/gpu/layer/typed_weights.h"

namespace winnow {
namespace {

using challenge::Cusparse;

constexpr cusparseOperation_t kPlain = CUSPARSE_OPERATION_NON_TRANSPOSE;
constexpr float kOne = 1, kZero = 0;

struct Algorithm {
  cusparseSpMMAlg_t number;
  const char* name;
};
constexpr std::array<Algorithm, 3> kAlgorithms = {{{CUSPARSE_SPMM_CSR_ALG1, "CSR_ALG1"},
                                                   {CUSPARSE_SPMM_CSR_ALG2, "CSR_ALG2"},
                                                   {CUSPARSE_SPMM_CSR_ALG3, "CSR_ALG3"}}};

// The weight's nonzeros row by row, its columns in the order of the matrix of columns.
struct CsrHalves {
  std::int64_t rows = 0, columns = 0, nonzeros = 0;
  DeviceBuffer<std::int32_t> begin, column;
  DeviceBuffer<std::byte> value;
};

CsrHalves csr_of(const RivalProblem& problem, ColumnOrder order) {
  const ColumnShape& shape = problem.shape;
  const Conv& conv = shape.conv;
  const bool is_last = order == ColumnOrder::by_pixel;
  const std::vector<float> weight =
      is_last ? channels_last(problem.weight, conv.out_channels, conv.kernel[0] * conv.kernel[1])
              : problem.weight;
  std::vector<std::int32_t> begin = {0}, column;
  std::vector<float> value;
  for (std::int64_t k = 0; k < conv.out_channels; ++k) {
    for (std::int64_t c = 0; c < shape.columns(); ++c) {
      const float w = weight[static_cast<std::size_t>(k * shape.columns() + c)];
      if (w == 0) continue;
      column.push_back(static_cast<std::int32_t>(c));
      value.push_back(w);
    }
    begin.push_back(static_cast<std::int32_t>(value.size()));
  }
  return {conv.out_channels, shape.columns(), static_cast<std::int64_t>(value.size()),
          upload(begin),     upload(column),  upload_as(Precision::f16, value)};
}

// The product of one form: dense matrices by pixel are column-major to cuSPARSE, others row-major.
class CusparseLayer : public PreparedLayer {
 public:
  CusparseLayer(std::shared_ptr<Columns> columns, std::shared_ptr<const CsrHalves> csr,
                cusparseSpMMAlg_t algorithm, cudaStream_t stream)
      : columns_(std::move(columns)),
        csr_(std::move(csr)),
        algorithm_(algorithm),
        handle_(challenge::make_cusparse_handle(stream)) {
    const std::int64_t pixels = columns_->shape().pixels();
    if (!is_by_pixel()) {
      output_ = DeviceBuffer<std::byte>(static_cast<std::size_t>(2 * csr_->rows * pixels));
    }
    cusparseConstSpMatDescr_t made = nullptr;
    CUSPARSE_CHECK(Cusparse::get().cusparseCreateConstCsr(
        &made, csr_->rows, csr_->columns, csr_->nonzeros, csr_->begin.get(), csr_->column.get(),
        csr_->value.get(), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
        CUDA_R_16F));
    weight_ = challenge::ConstSparseMatrix(made);
  }

  void launch(std::span<const ActivationView> in, const ActivationView& out, const Workspace&,
              cudaStream_t stream) const override {
    const Cusparse& cusparse = Cusparse::get();
    const void* x = columns_->halves(in[0], stream);
    void* y = is_by_pixel() ? out.data : output_.get();
    const auto from = dense_in(x);
    const auto to = dense_out(y);
    if (!is_prepared_) prepare(from, to);
    CUSPARSE_CHECK(cusparse.cusparseSpMM(handle_.get(), kPlain, kPlain, &kOne, weight_.get(),
                                         from.get(), &kZero, to.get(), CUDA_R_32F, algorithm_,
                                         buffer_.get()));
    if (is_prepared_) return;
    is_prepared_ = true;
    if (is_by_pixel()) return;
    transpose_halves(y, csr_->rows, columns_->shape().pixels(), out.data, stream);
  }

 private:
  bool is_by_pixel() const { return columns_->order() == ColumnOrder::by_pixel; }
  cusparseOrder_t order() const { return is_by_pixel() ? CUSPARSE_ORDER_COL : CUSPARSE_ORDER_ROW; }

  challenge::ConstDenseMatrix dense_in(const void* data) const {
    const std::int64_t pixels = columns_->shape().pixels();
    cusparseConstDnMatDescr_t made = nullptr;
    CUSPARSE_CHECK(Cusparse::get().cusparseCreateConstDnMat(&made, csr_->columns, pixels,
                                                            is_by_pixel() ? csr_->columns : pixels,
                                                            data, CUDA_R_16F, order()));
    return challenge::ConstDenseMatrix(made);
  }

  challenge::DenseMatrix dense_out(void* data) const {
    const std::int64_t pixels = columns_->shape().pixels();
    cusparseDnMatDescr_t made = nullptr;
    CUSPARSE_CHECK(Cusparse::get().cusparseCreateDnMat(
        &made, csr_->rows, pixels, is_by_pixel() ? csr_->rows : pixels, data, CUDA_R_16F, order()));
    return challenge::DenseMatrix(made);
  }

  void prepare(const challenge::ConstDenseMatrix& from, const challenge::DenseMatrix& to) const {
    std::size_t bytes = 0;
    CUSPARSE_CHECK(Cusparse::get().cusparseSpMM_bufferSize(
        handle_.get(), kPlain, kPlain, &kOne, weight_.get(), from.get(), &kZero, to.get(),
        CUDA_R_32F, algorithm_, &bytes));
    buffer_ = DeviceBuffer<std::byte>(std::max<std::size_t>(bytes, 1));
    CUSPARSE_CHECK(Cusparse::get().cusparseSpMM_preprocess(
        handle_.get(), kPlain, kPlain, &kOne, weight_.get(), from.get(), &kZero, to.get(),
        CUDA_R_32F, algorithm_, buffer_.get()));
  }

  std::shared_ptr<Columns> columns_;
  std::shared_ptr<const CsrHalves> csr_;
  cusparseSpMMAlg_t algorithm_;
  challenge::CusparseHandle handle_;
  challenge::ConstSparseMatrix weight_;
  DeviceBuffer<std::byte> output_;  // [K][pixels]; by pixel it is the layer's own
  mutable DeviceBuffer<std::byte> buffer_;
  mutable bool is_prepared_ = false;
};

}  // namespace

std::vector<LayerKernel> cusparse_rivals(const RivalProblem& problem,
                                         const std::shared_ptr<Columns>& columns, GpuContext& gpu) {
  const auto csr = std::make_shared<const CsrHalves>(csr_of(problem, columns->order()));
  const bool is_by_pixel = columns->order() == ColumnOrder::by_pixel;
  std::vector<LayerKernel> kernels;
  for (const Algorithm& algorithm : kAlgorithms) {
    kernels.push_back({.family = is_by_pixel ? "cusparse by pixel" : "cusparse by column",
                       .kernel = std::string("cusparse SpMM ") + algorithm.name +
                                 (is_by_pixel ? " by pixel" : " by column"),
                       .in = rival_input(columns->order()),
                       .out = rival_output(),
                       .layer = std::make_shared<const CusparseLayer>(
                           columns, csr, algorithm.number, gpu.stream())});
  }
  return kernels;
}

}  // namespace winnow
