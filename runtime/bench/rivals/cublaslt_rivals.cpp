// Dense matrix products by cuBLASLt on gathered columns: half floats, e4m3 and int8.
#include <utility>

#include "runtime/base/error.h"
#include "runtime/bench/rivals/rival.h"
#include "runtime/gpu/dense/cublaslt_linear.h"
#include "runtime/gpu/layer/typed_weights.h"
#include "runtime/gpu/vendor/library_handles.h"

namespace winnow {
namespace {

using Descriptor = CublasLtObject<cublasLtMatmulDesc_t, &CublasLt::cublasLtMatmulDescDestroy>;
using Matrix = CublasLtObject<cublasLtMatrixLayout_t, &CublasLt::cublasLtMatrixLayoutDestroy>;
using Preference =
    CublasLtObject<cublasLtMatmulPreference_t, &CublasLt::cublasLtMatmulPreferenceDestroy>;

constexpr std::size_t kMostWorkspace = std::size_t{64} << 20;
constexpr std::size_t kMostAlgorithms = 16;

// [K, R, S, C]
std::vector<float> rows_of(const RivalProblem& problem) {
  const Conv& conv = problem.shape.conv;
  return channels_last(problem.weight, conv.out_channels, conv.kernel[0] * conv.kernel[1]);
}

LayerKernel kernel_of(std::string family, std::string kernel,
                      std::shared_ptr<const PreparedLayer> layer) {
  return {.family = std::move(family),
          .kernel = std::move(kernel),
          .in = rival_input(ColumnOrder::by_pixel),
          .out = rival_output(),
          .layer = std::move(layer)};
}

class HalfProduct : public PreparedLayer {
 public:
  HalfProduct(std::shared_ptr<Columns> columns, std::shared_ptr<const PreparedLayer> linear)
      : columns_(std::move(columns)), linear_(std::move(linear)) {}

  std::size_t workspace_bytes() const override { return linear_->workspace_bytes(); }

  void launch(std::span<const ActivationView> in, const ActivationView& out,
              const Workspace& workspace, cudaStream_t stream) const override {
    ActivationView matrix = in[0];
    matrix.data = const_cast<void*>(columns_->halves(in[0], stream));
    linear_->launch(std::span(&matrix, 1), out, workspace, stream);
  }

 private:
  std::shared_ptr<Columns> columns_;
  std::shared_ptr<const PreparedLayer> linear_;
};

// y^T = W x^T in column-major order, as cuBLASLt wants 8-bit matrices: W transposed. e4m3 gives
// half floats, int8 gives int8 in units of int8_scale().
struct NarrowProduct {
  Narrow type;
  ColumnShape shape;
  Descriptor descriptor;
  Matrix w, x, y;
  DeviceBuffer<std::byte> weight, output;
  float alpha = 1;  // of the product of the stored numbers
  float scale = 1;  // of a stored int8 result

  NarrowProduct(const RivalProblem& problem, Narrow narrow, cudaStream_t stream)
      : type(narrow), shape(problem.shape) {
    const std::int64_t outs = shape.conv.out_channels;
    const bool is_int = type == Narrow::int8;
    const auto element = is_int ? CUDA_R_8I : CUDA_R_8F_E4M3;
    w = matrix(element, shape.columns(), outs);
    x = matrix(element, shape.columns(), shape.pixels());
    y = matrix(is_int ? CUDA_R_8I : CUDA_R_16F, outs, shape.pixels());
    describe(is_int ? CUBLAS_COMPUTE_32I : CUBLAS_COMPUTE_32F);
    upload(rows_of(problem), stream);
    if (!is_int) return;
    output = DeviceBuffer<std::byte>(static_cast<std::size_t>(outs * shape.pixels()));
    scale = int8_scale(problem);
    alpha = 1 / (127.0f * 127.0f * scale);
  }

 private:
  static Matrix matrix(cudaDataType type, std::int64_t rows, std::int64_t columns) {
    cublasLtMatrixLayout_t made = nullptr;
    CUBLASLT_CHECK(CublasLt::get().cublasLtMatrixLayoutCreate(
        &made, type, static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(columns), rows));
    return Matrix(made);
  }

  void describe(cublasComputeType_t compute) {
    cublasLtMatmulDesc_t made = nullptr;
    CUBLASLT_CHECK(CublasLt::get().cublasLtMatmulDescCreate(&made, compute, CUDA_R_32F));
    descriptor = Descriptor(made);
    const cublasOperation_t transposed = CUBLAS_OP_T;
    CUBLASLT_CHECK(CublasLt::get().cublasLtMatmulDescSetAttribute(made, CUBLASLT_MATMUL_DESC_TRANSA,
                                                                  &transposed, sizeof(transposed)));
    if (type != Narrow::e4m3) return;
    const std::int8_t is_fast = 1;  // sums of fewer bits, as 8-bit inference has them
    CUBLASLT_CHECK(CublasLt::get().cublasLtMatmulDescSetAttribute(
        made, CUBLASLT_MATMUL_DESC_FAST_ACCUM, &is_fast, sizeof(is_fast)));
  }

  void upload(const std::vector<float>& rows, cudaStream_t stream) {
    const DeviceBuffer<std::byte> halves = upload_as(Precision::f16, rows);
    weight = DeviceBuffer<std::byte>(rows.size());
    narrow_halves(type, halves.get(), static_cast<std::int64_t>(rows.size()), weight.get(), stream);
    CUDA_CHECK(cudaStreamSynchronize(stream));
  }
};

class NarrowLayer : public PreparedLayer {
 public:
  NarrowLayer(std::shared_ptr<Columns> columns, std::shared_ptr<const NarrowProduct> product,
              cublasLtHandle_t handle, const cublasLtMatmulHeuristicResult_t& choice)
      : columns_(std::move(columns)),
        product_(std::move(product)),
        handle_(handle),
        choice_(choice) {}

  std::size_t workspace_bytes() const override { return choice_.workspaceSize; }

  void launch(std::span<const ActivationView> in, const ActivationView& out,
              const Workspace& workspace, cudaStream_t stream) const override {
    const NarrowProduct& p = *product_;
    const bool is_int = p.type == Narrow::int8;
    void* y = is_int ? p.output.get() : out.data;
    const void* x = columns_->narrow(p.type, in[0], stream);
    const float zero = 0;
    CUBLASLT_CHECK(CublasLt::get().cublasLtMatmul(
        handle_, p.descriptor.get(), &p.alpha, p.weight.get(), p.w.get(), x, p.x.get(), &zero, y,
        p.y.get(), y, p.y.get(), &choice_.algo, workspace.data, choice_.workspaceSize, stream));
    if (!is_int || is_written_) return;
    const auto count = static_cast<std::int64_t>(p.output.bytes());
    widen_int8(y, count, p.scale, out.data, stream);
    is_written_ = true;
  }

 private:
  std::shared_ptr<Columns> columns_;
  std::shared_ptr<const NarrowProduct> product_;
  cublasLtHandle_t handle_;
  cublasLtMatmulHeuristicResult_t choice_;
  mutable bool is_written_ = false;
};

std::vector<cublasLtMatmulHeuristicResult_t> propose(const NarrowProduct& product,
                                                     cublasLtHandle_t handle) {
  const CublasLt& blas = CublasLt::get();
  cublasLtMatmulPreference_t made = nullptr;
  CUBLASLT_CHECK(blas.cublasLtMatmulPreferenceCreate(&made));
  const Preference preference(made);
  CUBLASLT_CHECK(blas.cublasLtMatmulPreferenceSetAttribute(
      made, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &kMostWorkspace, sizeof(kMostWorkspace)));
  std::vector<cublasLtMatmulHeuristicResult_t> results(kMostAlgorithms);
  int returned = 0;
  CUBLASLT_CHECK(blas.cublasLtMatmulAlgoGetHeuristic(
      handle, product.descriptor.get(), product.w.get(), product.x.get(), product.y.get(),
      product.y.get(), made, static_cast<int>(results.size()), results.data(), &returned));
  results.resize(static_cast<std::size_t>(returned));
  std::erase_if(results, [](const auto& result) { return result.state != CUBLAS_STATUS_SUCCESS; });
  return results;
}

}  // namespace

std::vector<LayerKernel> cublaslt_rivals(const RivalProblem& problem,
                                         const std::shared_ptr<Columns>& by_pixel,
                                         GpuContext& gpu) {
  const ColumnShape& shape = problem.shape;
  const std::vector<float> none(static_cast<std::size_t>(shape.conv.out_channels));
  std::vector<LayerKernel> kernels;
  for (NamedLayer& linear : cublaslt_layers({.rows = shape.pixels(),
                            .in = shape.columns(),
                            .out = shape.conv.out_channels,
                            .precision = Precision::f16},
                                            rows_of(problem), none, gpu)) {
    kernels.push_back(
        kernel_of("cublaslt f16", linear.name,
                  std::make_shared<const HalfProduct>(by_pixel, std::move(linear.layer))));
  }
  return kernels;
}

std::vector<LayerKernel> narrow_rivals(const RivalProblem& problem, Narrow type,
                                       const std::shared_ptr<Columns>& by_pixel, GpuContext& gpu) {
  const cublasLtHandle_t handle = cublaslt_handle(gpu);
  const std::string name = type == Narrow::int8 ? "int8" : "fp8";
  const auto product = std::make_shared<const NarrowProduct>(problem, type, gpu.stream());
  std::vector<LayerKernel> kernels;
  for (const auto& choice : propose(*product, handle)) {
    kernels.push_back(kernel_of(
        "cublaslt " + name, "cublaslt " + name + " algo " + std::to_string(kernels.size()),
        std::make_shared<const NarrowLayer>(by_pixel, product, handle, choice)));
  }
  if (kernels.empty()) fail(ErrorCode::device, "cublaslt ", name, ": no algorithm is proposed");
  return kernels;
}

}  // namespace winnow
