// cuDNN's older interface: one call per convolution, an algorithm number; bias, addition and relu
// fused.
#include <string>

#include "runtime/gpu/dense/cudnn_problem.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace winnow {
namespace {

cudnnTensorFormat_t format_of(const Layout& layout) {
  return layout == Layout::nhwc ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW;
}

TensorDescriptor tensor(const Cudnn& cudnn, const CudnnProblem& problem, const Extents& size) {
  cudnnTensorDescriptor_t descriptor = nullptr;
  CUDNN_CHECK(cudnn, cudnn.cudnnCreateTensorDescriptor(&descriptor));
  TensorDescriptor owner(descriptor);
  CUDNN_CHECK(cudnn, cudnn.cudnnSetTensor4dDescriptor(
                         descriptor, format_of(problem.layout), data_type(problem.precision),
                         static_cast<int>(size.n), static_cast<int>(size.c),
                         static_cast<int>(size.h), static_cast<int>(size.w)));
  return owner;
}

FilterDescriptor filter(const Cudnn& cudnn, const CudnnProblem& problem) {
  const Conv& conv = problem.conv;
  cudnnFilterDescriptor_t descriptor = nullptr;
  CUDNN_CHECK(cudnn, cudnn.cudnnCreateFilterDescriptor(&descriptor));
  FilterDescriptor owner(descriptor);
  CUDNN_CHECK(cudnn, cudnn.cudnnSetFilter4dDescriptor(
                         descriptor, data_type(problem.precision), format_of(problem.layout),
                         static_cast<int>(conv.out_channels),
                         static_cast<int>(conv.in_channels / conv.groups),
                         static_cast<int>(conv.kernel[0]), static_cast<int>(conv.kernel[1])));
  return owner;
}

// FMA math keeps fp32 exact: the default rounds to TF32 where the GPU can.
cudnnMathType_t math_of(const CudnnProblem& problem) {
  if (problem.precision == Precision::f16) return CUDNN_TENSOR_OP_MATH;
  return problem.use_tf32 ? CUDNN_DEFAULT_MATH : CUDNN_FMA_MATH;
}

ConvDescriptor convolution(const Cudnn& cudnn, const CudnnProblem& problem) {
  const Conv& conv = problem.conv;
  const auto at = [](const Pair& pair, int axis) { return static_cast<int>(pair[axis]); };
  cudnnConvolutionDescriptor_t descriptor = nullptr;
  CUDNN_CHECK(cudnn, cudnn.cudnnCreateConvolutionDescriptor(&descriptor));
  ConvDescriptor owner(descriptor);
  CUDNN_CHECK(cudnn, cudnn.cudnnSetConvolution2dDescriptor(
                         descriptor, at(conv.padding, 0), at(conv.padding, 1), at(conv.stride, 0),
                         at(conv.stride, 1), at(conv.dilation, 0), at(conv.dilation, 1),
                         CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
  CUDNN_CHECK(cudnn,
              cudnn.cudnnSetConvolutionGroupCount(descriptor, static_cast<int>(conv.groups)));
  CUDNN_CHECK(cudnn, cudnn.cudnnSetConvolutionMathType(descriptor, math_of(problem)));
  return owner;
}

ActivationDescriptor activation(const Cudnn& cudnn, bool has_relu) {
  cudnnActivationDescriptor_t descriptor = nullptr;
  CUDNN_CHECK(cudnn, cudnn.cudnnCreateActivationDescriptor(&descriptor));
  ActivationDescriptor owner(descriptor);
  const auto mode = has_relu ? CUDNN_ACTIVATION_RELU : CUDNN_ACTIVATION_IDENTITY;
  CUDNN_CHECK(cudnn, cudnn.cudnnSetActivationDescriptor(descriptor, mode, CUDNN_PROPAGATE_NAN, 0));
  return owner;
}

// The descriptors of one convolution, shared by its algorithms.
struct Descriptors {
  const Cudnn& cudnn;
  TensorDescriptor x, y, bias;
  FilterDescriptor w;
  ConvDescriptor conv;
  ActivationDescriptor act;
  bool adds;
  std::size_t conv_input;

  Descriptors(const Cudnn& library, const CudnnProblem& problem)
      : cudnn(library),
        x(tensor(library, problem, problem.in)),
        y(tensor(library, problem, problem.out)),
        bias(tensor(library, problem, {.n = 1, .c = problem.out.c})),
        w(filter(library, problem)),
        conv(convolution(library, problem)),
        act(activation(library, problem.has_relu)),
        adds(problem.adds),
        conv_input(problem.conv_input) {}
};

class AlgorithmLayer : public PreparedLayer {
 public:
  AlgorithmLayer(std::shared_ptr<const Descriptors> descriptors,
                 std::shared_ptr<const CudnnParameters> parameters, cudnnHandle_t handle,
                 cudnnConvolutionFwdAlgo_t algorithm, bool is_fused)
      : d_(std::move(descriptors)),
        parameters_(std::move(parameters)),
        handle_(handle),
        algorithm_(algorithm),
        is_fused_(is_fused) {}

  // Whether cuDNN accepts the algorithm within the limit of scratch memory.
  bool ask_workspace() {
    const auto status = d_->cudnn.cudnnGetConvolutionForwardWorkspaceSize(
        handle_, d_->x.get(), d_->w.get(), d_->conv.get(), d_->y.get(), algorithm_, &bytes_);
    return status == CUDNN_STATUS_SUCCESS && bytes_ <= kMaxCudnnWorkspace;
  }

  std::size_t workspace_bytes() const override { return bytes_; }

  void launch(std::span<const ActivationView> in, const ActivationView& out,
              const Workspace& workspace, cudaStream_t stream) const override {
    const Cudnn& cudnn = d_->cudnn;
    CUDNN_CHECK(cudnn, cudnn.cudnnSetStream(handle_, stream));
    const float one = 1, zero = 0;
    const void* const x = in[d_->conv_input].data;
    if (is_fused_) {
      const float addend_scale = d_->adds ? 1.0F : 0.0F;
      const void* const addend = d_->adds ? in[1 - d_->conv_input].data : out.data;
      CUDNN_CHECK(cudnn, cudnn.cudnnConvolutionBiasActivationForward(
                             handle_, &one, d_->x.get(), x, d_->w.get(), parameters_->weight.get(),
                             d_->conv.get(), algorithm_, workspace.data, bytes_, &addend_scale,
                             d_->y.get(), addend, d_->bias.get(), parameters_->bias.get(),
                             d_->act.get(), d_->y.get(), out.data));
      return;
    }
    CUDNN_CHECK(
        cudnn, cudnn.cudnnConvolutionForward(handle_, &one, d_->x.get(), x, d_->w.get(),
                                             parameters_->weight.get(), d_->conv.get(), algorithm_,
                                             workspace.data, bytes_, &zero, d_->y.get(), out.data));
    CUDNN_CHECK(cudnn, cudnn.cudnnAddTensor(handle_, &one, d_->bias.get(), parameters_->bias.get(),
                                            &one, d_->y.get(), out.data));
  }

 private:
  std::shared_ptr<const Descriptors> d_;
  std::shared_ptr<const CudnnParameters> parameters_;
  cudnnHandle_t handle_;
  cudnnConvolutionFwdAlgo_t algorithm_;
  bool is_fused_;
  std::size_t bytes_ = 0;
};

}  // namespace

std::vector<NamedLayer> cudnn_algorithm_layers(const CudnnProblem& problem,
                                               std::shared_ptr<const CudnnParameters> parameters,
                                               GpuContext& gpu) {
  const Cudnn& cudnn = Cudnn::get();
  const auto descriptors = std::make_shared<const Descriptors>(cudnn, problem);
  std::vector<NamedLayer> layers;
  for (int number = 0; number < CUDNN_CONVOLUTION_FWD_ALGO_COUNT; ++number) {
    const auto algorithm = static_cast<cudnnConvolutionFwdAlgo_t>(number);
    // Without relu, cuDNN fuses bias and addition in this one algorithm only.
    const bool is_fused =
        problem.has_relu || algorithm == CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM;
    if (problem.adds && !is_fused) continue;
    auto layer = std::make_shared<AlgorithmLayer>(descriptors, parameters, cudnn_handle(gpu),
                                                  algorithm, is_fused);
    if (!layer->ask_workspace()) continue;
    layers.push_back({"cudnn " + to_string(problem.layout) + " " +
                          math_name(problem.precision, problem.use_tf32) + " algo " +
                          std::to_string(number),
                      std::move(layer)});
  }
  return layers;
}

}  // namespace winnow
