#include "runtime/gpu/dense/cublaslt_linear.h"

#include <exception>
#include <string>

#include "runtime/device/buffer.h"
#include "runtime/gpu/layer/typed_weights.h"
#include "runtime/gpu/vendor/library_handles.h"

namespace winnow {
namespace {

using MatmulDescriptor = CublasLtObject<cublasLtMatmulDesc_t, &CublasLt::cublasLtMatmulDescDestroy>;
using MatrixLayout = CublasLtObject<cublasLtMatrixLayout_t, &CublasLt::cublasLtMatrixLayoutDestroy>;
using Preference =
    CublasLtObject<cublasLtMatmulPreference_t, &CublasLt::cublasLtMatmulPreferenceDestroy>;

constexpr std::size_t kMaxWorkspace = std::size_t{64} << 20;
constexpr std::size_t kFewMatmuls = 8;  // heuristics put the best first
constexpr std::size_t kManyMatmuls = 256;

cudaDataType type_of(Precision precision) {
  return precision == Precision::f32 ? CUDA_R_32F : CUDA_R_16F;
}

MatrixLayout matrix(Precision precision, std::int64_t rows, std::int64_t cols) {
  cublasLtMatrixLayout_t layout = nullptr;
  CUBLASLT_CHECK(CublasLt::get().cublasLtMatrixLayoutCreate(
      &layout, type_of(precision), static_cast<std::uint64_t>(rows),
      static_cast<std::uint64_t>(cols), rows));
  return MatrixLayout(layout);
}

// cuBLASLt is column-major: a row-major [rows, cols] is its [cols, rows]. So y^T = W x^T, where the
// stored W [out, in] appears as [in, out] and is transposed.
struct Matmul {
  MatmulDescriptor descriptor;
  MatrixLayout w, x, y;
  DeviceBuffer<std::byte> weight, bias;

  Matmul(const LinearProblem& p, std::span<const float> weights, std::span<const float> biases)
      : w(matrix(p.precision, p.in, p.out)),
        x(matrix(p.precision, p.in, p.rows)),
        y(matrix(p.precision, p.out, p.rows)),
        weight(upload_as(p.precision, weights)),
        bias(upload_as(p.precision, biases)) {
    cublasLtMatmulDesc_t made = nullptr;
    // Both sum in fp32; plain COMPUTE_32F leaves fp32 inputs as they are.
    const auto compute = p.use_tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
    CUBLASLT_CHECK(CublasLt::get().cublasLtMatmulDescCreate(&made, compute, CUDA_R_32F));
    descriptor = MatmulDescriptor(made);
    const void* bias_data = bias.get();
    set(CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_T);
    set(CUBLASLT_MATMUL_DESC_EPILOGUE,
        p.has_relu ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_BIAS);
    set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias_data);
  }

  template <typename T>
  void set(cublasLtMatmulDescAttributes_t attribute, const T& value) {
    CUBLASLT_CHECK(CublasLt::get().cublasLtMatmulDescSetAttribute(descriptor.get(), attribute,
                                                                  &value, sizeof(value)));
  }
};

std::vector<cublasLtMatmulHeuristicResult_t> propose(const Matmul& matmul, cublasLtHandle_t handle,
                                                     std::size_t most) {
  const CublasLt& blas = CublasLt::get();
  cublasLtMatmulPreference_t made = nullptr;
  CUBLASLT_CHECK(blas.cublasLtMatmulPreferenceCreate(&made));
  const Preference preference(made);
  CUBLASLT_CHECK(blas.cublasLtMatmulPreferenceSetAttribute(
      made, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &kMaxWorkspace, sizeof(kMaxWorkspace)));
  std::vector<cublasLtMatmulHeuristicResult_t> results(most);
  int returned = 0;
  const auto status = blas.cublasLtMatmulAlgoGetHeuristic(
      handle, matmul.descriptor.get(), matmul.w.get(), matmul.x.get(), matmul.y.get(),
      matmul.y.get(), made, static_cast<int>(most), results.data(), &returned);
  if (status != CUBLAS_STATUS_SUCCESS) returned = 0;
  results.resize(static_cast<std::size_t>(returned));
  return results;
}

class MatmulLayer : public PreparedLayer {
 public:
  MatmulLayer(std::shared_ptr<const Matmul> matmul, cublasLtHandle_t handle,
              const cublasLtMatmulHeuristicResult_t& choice)
      : matmul_(std::move(matmul)), handle_(handle), choice_(choice) {}

  std::size_t workspace_bytes() const override { return choice_.workspaceSize; }

  void launch(std::span<const ActivationView> in, const ActivationView& out,
              const Workspace& workspace, cudaStream_t stream) const override {
    const float one = 1, zero = 0;
    CUBLASLT_CHECK(CublasLt::get().cublasLtMatmul(
        handle_, matmul_->descriptor.get(), &one, matmul_->weight.get(), matmul_->w.get(),
        in[0].data, matmul_->x.get(), &zero, out.data, matmul_->y.get(), out.data, matmul_->y.get(),
        &choice_.algo, workspace.data, choice_.workspaceSize, stream));
  }

 private:
  std::shared_ptr<const Matmul> matmul_;
  cublasLtHandle_t handle_;
  cublasLtMatmulHeuristicResult_t choice_;
};

// The algorithms in exactly the arithmetic that `problem` names.
void append_layers(std::vector<NamedLayer>& layers, const LinearProblem& problem,
                   std::span<const float> weight, std::span<const float> bias,
                   cublasLtHandle_t handle) {
  const auto matmul = std::make_shared<const Matmul>(problem, weight, bias);
  int number = 0;
  for (const cublasLtMatmulHeuristicResult_t& choice :
       propose(*matmul, handle, problem.all_plans ? kManyMatmuls : kFewMatmuls)) {
    if (choice.state != CUBLAS_STATUS_SUCCESS) continue;
    layers.push_back({"cublaslt " + math_name(problem.precision, problem.use_tf32) + " algo " +
                          std::to_string(number++),
                      std::make_shared<MatmulLayer>(matmul, handle, choice)});
  }
}

}  // namespace

std::vector<NamedLayer> cublaslt_layers(const LinearProblem& problem, std::span<const float> weight,
                                        std::span<const float> bias, GpuContext& gpu) {
  const cublasLtHandle_t handle = cublaslt_handle(gpu);
  LinearProblem exact = problem;
  exact.use_tf32 = false;
  std::vector<NamedLayer> layers;
  append_layers(layers, exact, weight, bias, handle);
  if (problem.use_tf32) append_layers(layers, problem, weight, bias, handle);
  return layers;
}

std::string cublaslt_missing_reason(GpuContext& gpu) {
  try {
    cublaslt_handle(gpu);
    return "";
  } catch (const std::exception& error) {
    return error.what();
  }
}

}  // namespace winnow
