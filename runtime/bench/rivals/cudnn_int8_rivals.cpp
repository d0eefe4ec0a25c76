// cuDNN's convolution of int8 inputs and weights with channels last, by its older interface.
#include <cmath>
#include <utility>

#include "runtime/base/error.h"
#include "runtime/bench/rivals/rival.h"
#include "runtime/gpu/layer/typed_weights.h"
#include "runtime/gpu/vendor/library_handles.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace winnow {
namespace {

// The one algorithm that cuDNN has for int8 with channels last.
constexpr cudnnConvolutionFwdAlgo_t kAlgorithm = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM;

TensorDescriptor tensor(const Cudnn& cudnn, cudnnDataType_t type, const Extents& size) {
  cudnnTensorDescriptor_t made = nullptr;
  CUDNN_CHECK(cudnn, cudnn.cudnnCreateTensorDescriptor(&made));
  TensorDescriptor owner(made);
  CUDNN_CHECK(cudnn,
              cudnn.cudnnSetTensor4dDescriptor(made, CUDNN_TENSOR_NHWC, type,
                                               static_cast<int>(size.n), static_cast<int>(size.c),
                                               static_cast<int>(size.h), static_cast<int>(size.w)));
  return owner;
}

FilterDescriptor filter(const Cudnn& cudnn, const Conv& conv) {
  cudnnFilterDescriptor_t made = nullptr;
  CUDNN_CHECK(cudnn, cudnn.cudnnCreateFilterDescriptor(&made));
  FilterDescriptor owner(made);
  CUDNN_CHECK(cudnn, cudnn.cudnnSetFilter4dDescriptor(
                         made, CUDNN_DATA_INT8, CUDNN_TENSOR_NHWC,
                         static_cast<int>(conv.out_channels), static_cast<int>(conv.in_channels),
                         static_cast<int>(conv.kernel[0]), static_cast<int>(conv.kernel[1])));
  return owner;
}

ConvDescriptor convolution(const Cudnn& cudnn, const Conv& conv) {
  const auto at = [](const Pair& pair, int axis) { return static_cast<int>(pair[axis]); };
  cudnnConvolutionDescriptor_t made = nullptr;
  CUDNN_CHECK(cudnn, cudnn.cudnnCreateConvolutionDescriptor(&made));
  ConvDescriptor owner(made);
  CUDNN_CHECK(cudnn, cudnn.cudnnSetConvolution2dDescriptor(
                         made, at(conv.padding, 0), at(conv.padding, 1), at(conv.stride, 0),
                         at(conv.stride, 1), at(conv.dilation, 0), at(conv.dilation, 1),
                         CUDNN_CROSS_CORRELATION, CUDNN_DATA_INT32));
  CUDNN_CHECK(cudnn, cudnn.cudnnSetConvolutionMathType(made, CUDNN_TENSOR_OP_MATH));
  return owner;
}

ActivationDescriptor identity(const Cudnn& cudnn) {
  cudnnActivationDescriptor_t made = nullptr;
  CUDNN_CHECK(cudnn, cudnn.cudnnCreateActivationDescriptor(&made));
  ActivationDescriptor owner(made);
  CUDNN_CHECK(cudnn, cudnn.cudnnSetActivationDescriptor(made, CUDNN_ACTIVATION_IDENTITY,
                                                        CUDNN_PROPAGATE_NAN, 0));
  return owner;
}

class Int8Layer : public PreparedLayer {
 public:
  Int8Layer(const RivalProblem& problem, GpuContext& gpu)
      : cudnn_(Cudnn::get()),
        handle_(cudnn_handle(gpu)),
        in_(problem.shape.in),
        out_(problem.shape.out),
        x_(tensor(cudnn_, CUDNN_DATA_INT8, in_)),
        y_(tensor(cudnn_, CUDNN_DATA_INT8, out_)),
        b_(tensor(cudnn_, CUDNN_DATA_FLOAT, {.n = 1, .c = out_.c})),
        w_(filter(cudnn_, problem.shape.conv)),
        conv_(convolution(cudnn_, problem.shape.conv)),
        identity_(identity(cudnn_)),
        input_(static_cast<std::size_t>(in_.count())),
        output_(static_cast<std::size_t>(out_.count())),
        bias_(static_cast<std::size_t>(out_.c)) {
    scale_ = int8_scale(problem);
    upload_weight(problem, gpu.stream());
    CUDNN_CHECK(cudnn_, cudnn_.cudnnGetConvolutionForwardWorkspaceSize(
                            handle_, x_.get(), w_.get(), conv_.get(), y_.get(), kAlgorithm,
                            &workspace_bytes_));
  }

  std::size_t workspace_bytes() const override { return workspace_bytes_; }

  void launch(std::span<const ActivationView> in, const ActivationView& out,
              const Workspace& workspace, cudaStream_t stream) const override {
    if (!is_written_) narrow_halves(Narrow::int8, in[0].data, in_.count(), input_.get(), stream);
    const float alpha = 1 / (127.0f * 127.0f * scale_), zero = 0;
    CUDNN_CHECK(cudnn_, cudnn_.cudnnSetStream(handle_, stream));
    CUDNN_CHECK(cudnn_,
                cudnn_.cudnnConvolutionBiasActivationForward(
                    handle_, &alpha, x_.get(), input_.get(), w_.get(), weight_.get(), conv_.get(),
                    kAlgorithm, workspace.data, workspace_bytes_, &zero, y_.get(), output_.get(),
                    b_.get(), bias_.get(), identity_.get(), y_.get(), output_.get()));
    if (is_written_) return;
    widen_int8(output_.get(), out_.count(), scale_, out.data, stream);
    is_written_ = true;
  }

 private:
  void upload_weight(const RivalProblem& problem, cudaStream_t stream) {
    const Conv& conv = problem.shape.conv;
    const DeviceBuffer<std::byte> halves = upload_as(
        Precision::f16,
        channels_last(problem.weight, conv.out_channels, conv.kernel[0] * conv.kernel[1]));
    weight_ = DeviceBuffer<std::byte>(problem.weight.size());
    narrow_halves(Narrow::int8, halves.get(), static_cast<std::int64_t>(problem.weight.size()),
                  weight_.get(), stream);
    CUDA_CHECK(cudaMemsetAsync(bias_.get(), 0, bias_.bytes(), stream));
    CUDA_CHECK(cudaStreamSynchronize(stream));
  }

  const Cudnn& cudnn_;
  cudnnHandle_t handle_;
  Extents in_, out_;
  TensorDescriptor x_, y_, b_;
  FilterDescriptor w_;
  ConvDescriptor conv_;
  ActivationDescriptor identity_;
  DeviceBuffer<std::byte> input_, output_;
  DeviceBuffer<float> bias_;
  DeviceBuffer<std::byte> weight_;
  float scale_ = 1;  // of a stored result
  std::size_t workspace_bytes_ = 0;
  mutable bool is_written_ = false;
};

}  // namespace

std::vector<LayerKernel> cudnn_int8_rivals(const RivalProblem& problem, GpuContext& gpu) {
  return {{.family = "cudnn int8",
           .kernel = "cudnn nhwc int8 algo " + std::to_string(kAlgorithm),
           .in = rival_input(ColumnOrder::by_pixel),
           .out = rival_output(),
           .layer = std::make_shared<const Int8Layer>(problem, gpu)}};
}

}  // namespace winnow
