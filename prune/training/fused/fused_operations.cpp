#include "prune/training/fused/fused_operations.h"

#include <torch/csrc/autograd/custom_function.h>
#include <torch/types.h>

#include <optional>

namespace winnow {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr auto kLayout = torch::MemoryFormat::ChannelsLast;

const FusedKernels& kernels_of(const AutogradContext* context) {
  return *reinterpret_cast<const FusedKernels*>(context->saved_data.at("kernels").toInt());
}

void save_kernels(AutogradContext* context, const FusedKernels* kernels) {
  context->saved_data["kernels"] = reinterpret_cast<std::int64_t>(kernels);
}

// As the input is, whatever the node behind made of it.
torch::Tensor like(const torch::Tensor& gradient, const torch::Tensor& input) {
  return gradient.to(input.scalar_type()).contiguous(kLayout);
}

// LibTorch takes no undefined tensors here: an addend is optional.
struct FusedNorm : torch::autograd::Function<FusedNorm> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& input,
                               const torch::Tensor& weight, const torch::Tensor& bias,
                               const torch::Tensor& running_mean, const torch::Tensor& running_var,
                               const std::optional<torch::Tensor>& addend,
                               const FusedKernels* kernels, const NormOptions& options) {
    const FusedKernels::Norm norm = kernels->norm(input, weight, bias, running_mean, running_var,
                                                  addend.value_or(torch::Tensor()), options);
    variable_list saved = {input, weight, bias, norm.mean, norm.inverse_deviation};
    // Behind a sum only the output says what the ReLU let through.
    if (options.has_addend && options.has_relu) saved.push_back(norm.output);
    context->save_for_backward(std::move(saved));
    context->saved_data["has_addend"] = options.has_addend;
    context->saved_data["has_relu"] = options.has_relu;
    save_kernels(context, kernels);
    return norm.output;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const FusedKernels::Norm norm = {.output = saved.size() > 5 ? saved[5] : torch::Tensor(),
                                     .mean = saved[3],
                                     .inverse_deviation = saved[4]};
    const FusedKernels::NormGradients found = kernels_of(context).norm_backward(
        like(gradients[0], saved[0]), saved[0], saved[1], saved[2], norm,
        {.has_addend = context->saved_data.at("has_addend").toBool(),
         .has_relu = context->saved_data.at("has_relu").toBool()});
    return {found.input, found.weight, found.bias, {}, {}, found.addend, {}, {}};
  }
};

struct FusedPool : torch::autograd::Function<FusedPool> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& input,
                               const FusedKernels* kernels) {
    context->save_for_backward({input});
    save_kernels(context, kernels);
    return kernels->pool(input);
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const torch::Tensor input = context->get_saved_variables()[0];
    return {kernels_of(context).pool_backward(like(gradients[0], input), input), {}};
  }
};

// Windows of 2 x 2 side by side that cover the input.
bool is_quartering(const Pool& pool, const torch::Tensor& input) {
  const Pair two = {2, 2}, none = {0, 0};
  return pool.kind == PoolKind::max && pool.rank == 2 && pool.kernel == two && pool.stride == two &&
         pool.padding == none && !pool.padding_end && input.size(2) % 2 == 0 &&
         input.size(3) % 2 == 0;
}

}  // namespace

torch::Tensor fused_operation(const FusedKernels& kernels, const Op& op,
                              std::span<const torch::Tensor> inputs,
                              std::span<const torch::Tensor> parameters, const FusedTail& tail,
                              bool is_training) {
  if (inputs.empty() || !is_fusible(inputs[0])) return {};
  if (const auto* norm = std::get_if<BatchNorm>(&op)) {
    const NormOptions options = {.momentum = norm->momentum,
                                 .epsilon = norm->epsilon,
                                 .has_addend = tail.addend.defined(),
                                 .has_relu = tail.has_relu};
    if (!is_training) {
      return kernels.evaluated_norm(inputs[0], parameters[0], parameters[1], parameters[2],
                                    parameters[3], tail.addend, options);
    }
    return FusedNorm::apply(inputs[0], parameters[0], parameters[1], parameters[2], parameters[3],
                            options.has_addend ? std::optional(tail.addend) : std::nullopt,
                            &kernels, options);
  }
  const auto* pool = std::get_if<Pool>(&op);
  if (!pool || !is_quartering(*pool, inputs[0])) return {};
  return is_training ? FusedPool::apply(inputs[0], &kernels) : kernels.pool(inputs[0]);
}

}  // namespace winnow
