// FusedKernels of the module: tensors in, launches out.
#include "prune/training/fused/fused_kernels.h"

#include <ATen/Functions.h>

#include "prune/training/cuda/launch_checks.h"
#include "prune/training/cuda/norm_kernels.h"
#include "prune/training/cuda/pool_kernels.h"

namespace winnow {
namespace {

ImageType type_of(const at::Tensor& tensor) {
  return tensor.scalar_type() == at::kFloat ? ImageType::f32 : ImageType::bf16;
}

NormCall call_for(const at::Tensor& input, const NormOptions& options) {
  return {.device = input.device().index(),
          .stream = stream_of(input),
          .type = type_of(input),
          .has_addend = options.has_addend,
          .has_relu = options.has_relu,
          .rows = input.size(0) * input.size(2) * input.size(3),
          .channels = input.size(1)};
}

PoolCall pool_for(const at::Tensor& input) {
  const NormCall call = call_for(input, {});
  return {.device = call.device,
          .stream = call.stream,
          .type = call.type,
          .images = input.size(0),
          .height = input.size(2),
          .width = input.size(3),
          .channels = call.channels};
}

const float* floats(const at::Tensor& tensor) {
  return tensor.const_data_ptr<float>();
}
float* mutable_floats(const at::Tensor& tensor) {
  return tensor.mutable_data_ptr<float>();
}

at::Tensor floats_on(const at::Tensor& like, std::int64_t count) {
  return at::empty({count}, like.options().dtype(at::kFloat).memory_format(std::nullopt));
}

// Without what the statistics of a batch need.
NormForward forward_of(const at::Tensor& input, const at::Tensor& weight, const at::Tensor& bias,
                       const at::Tensor& running_mean, const at::Tensor& running_var,
                       const at::Tensor& addend, const NormOptions& options,
                       const at::Tensor& output) {
  TORCH_CHECK(is_addend(addend, input) == options.has_addend,
              "norms: found an addend of another shape, type or layout than the input");
  return {.input = input.const_data_ptr(),
          .weight = floats(weight),
          .bias = floats(bias),
          .running_mean = mutable_floats(running_mean),
          .running_var = mutable_floats(running_var),
          .momentum = options.momentum,
          .epsilon = options.epsilon,
          .addend = options.has_addend ? addend.const_data_ptr() : nullptr,
          .output = output.mutable_data_ptr()};
}

class CudaFusedKernels : public FusedKernels {
 public:
  Norm norm(const at::Tensor& input, const at::Tensor& weight, const at::Tensor& bias,
            const at::Tensor& running_mean, const at::Tensor& running_var, const at::Tensor& addend,
            const NormOptions& options) const override {
    const NormCall call = call_for(input, options);
    const Norm result = {at::empty_like(input), floats_on(input, call.channels),
                         floats_on(input, call.channels)};
    const at::Tensor workspace = floats_on(input, norm_workspace(call));
    NormForward norm =
        forward_of(input, weight, bias, running_mean, running_var, addend, options, result.output);
    norm.mean = mutable_floats(result.mean);
    norm.inverse_deviation = mutable_floats(result.inverse_deviation);
    norm.workspace = mutable_floats(workspace);
    require(launch_norm(call, norm));
    return result;
  }

  at::Tensor evaluated_norm(const at::Tensor& input, const at::Tensor& weight,
                            const at::Tensor& bias, const at::Tensor& running_mean,
                            const at::Tensor& running_var, const at::Tensor& addend,
                            const NormOptions& options) const override {
    at::Tensor output = at::empty_like(input);
    require(launch_evaluated_norm(
        call_for(input, options),
        forward_of(input, weight, bias, running_mean, running_var, addend, options, output)));
    return output;
  }

  NormGradients norm_backward(const at::Tensor& gradient, const at::Tensor& input,
                              const at::Tensor& weight, const at::Tensor& bias, const Norm& norm,
                              const NormOptions& options) const override {
    const NormCall call = call_for(input, options);
    NormGradients result = {at::empty_like(input), floats_on(input, call.channels),
                            floats_on(input, call.channels)};
    const bool is_masked = options.has_addend && options.has_relu;
    if (options.has_addend) result.addend = is_masked ? at::empty_like(input) : gradient;
    const at::Tensor workspace = floats_on(input, norm_workspace(call));
    require(launch_norm_backward(
        call, {.gradient = gradient.const_data_ptr(),
               .input = input.const_data_ptr(),
               .weight = floats(weight),
               .bias = floats(bias),
               .mean = floats(norm.mean),
               .inverse_deviation = floats(norm.inverse_deviation),
               .output = is_masked ? norm.output.const_data_ptr() : nullptr,
               .addend_gradient = is_masked ? result.addend.mutable_data_ptr() : nullptr,
               .input_gradient = result.input.mutable_data_ptr(),
               .weight_gradient = mutable_floats(result.weight),
               .bias_gradient = mutable_floats(result.bias),
               .workspace = mutable_floats(workspace)}));
    return result;
  }

  at::Tensor pool(const at::Tensor& input) const override {
    at::Tensor output =
        at::empty({input.size(0), input.size(1), input.size(2) / 2, input.size(3) / 2},
                  input.options().memory_format(at::MemoryFormat::ChannelsLast));
    require(launch_pool(pool_for(input), input.const_data_ptr(), output.mutable_data_ptr()));
    return output;
  }

  at::Tensor pool_backward(const at::Tensor& gradient, const at::Tensor& input) const override {
    at::Tensor result = at::empty_like(input);
    require(launch_pool_backward(pool_for(input), gradient.const_data_ptr(), input.const_data_ptr(),
                                 result.mutable_data_ptr()));
    return result;
  }
};

}  // namespace
}  // namespace winnow

extern "C" __attribute__((visibility("default"))) const winnow::FusedKernels*
winnow_fused_kernels() {
  static const winnow::CudaFusedKernels kernels;
  return &kernels;
}
