// Dense convolution with cuDNN: the baseline, on the same weights with their zeros.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/device/buffer.h"
#include "runtime/gpu/layer/family.h"

namespace winnow {

// One convolution as cuDNN gets it.
struct CudnnProblem {
  Conv conv;
  bool has_relu = false;
  bool adds = false;           // before the relu, another input of the output's size and layout
  std::size_t conv_input = 0;  // which of the launch's inputs the convolution reads
  Extents in, out;
  Layout layout = Layout::nhwc;  // of both, without halo: nchw or nhwc
  Precision precision = Precision::f16;
  int in_padding = 0;      // zero channels after the input's last; with groups = 1 only
  int out_padding = 0;     // likewise of the output: written as zeros
  bool use_tf32 = false;   // f32: kernels that round their inputs to TF32 as well
  bool all_plans = false;  // every plan that the heuristics propose; else the first few
};

// A layer's parameters in device memory, shared by all its kernels. Launches and recordings read
// what they are at that time.
struct CudnnParameters {
  DeviceBuffer<std::byte> weight;  // [K, C / groups, R, S] or, for nhwc, [K, R, S, C / groups]
  DeviceBuffer<std::byte> bias;    // [K]
};

// With the problem's padding. Throws Error{device} if memory runs out.
//
//   weight  [K, C / groups, R, S]    bias  [K]
CudnnParameters upload_for_cudnn(const CudnnProblem& problem, std::span<const float> weight,
                                 std::span<const float> bias);

// All ways of cuDNN to run the convolution that it accepts, bias, addition and relu fused, the bias
// alone also as a launch of its own: the algorithms of cudnnConvolutionBiasActivationForward
// ("cudnn nhwc f16 algo 1") and the plans that its heuristics propose for the operation graph
// ("cudnn graph nhwc f16 plan 2").
//
// fp16 runs on tensor cores with fp32 sums; fp32 is exact fp32. With `use_tf32` there are kernels
// that may use TF32 too, with tf32 for f32 in their names. Nondeterministic kernels are left out.
//
// `gpu` must outlive the layers. Empty if cuDNN accepts none. Throws Error{device} if cuDNN is
// missing.
std::vector<NamedLayer> cudnn_layers(const CudnnProblem& problem,
                                     std::shared_ptr<const CudnnParameters> parameters,
                                     GpuContext& gpu);

// With parameters of their own: upload_for_cudnn().
std::vector<NamedLayer> cudnn_layers(const CudnnProblem& problem, std::span<const float> weight,
                                     std::span<const float> bias, GpuContext& gpu);

// Why cuDNN cannot be used on this GPU; empty if it can.
std::string cudnn_missing_reason(GpuContext& gpu);

}  // namespace winnow
