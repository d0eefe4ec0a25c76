#include "prune/training/fused/cast_kernels.h"

#include <ATen/autocast_mode.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/types.h>

#include "prune/training/module_kernels.h"
#include "prune/training/tensor_layout.h"

namespace winnow {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// One node for all weights: backward reaches it once the gradients of all copies are there.
struct CastWeights : torch::autograd::Function<CastWeights> {
  static variable_list forward(AutogradContext* context, at::TensorList weights,
                               const CastKernels* kernels) {
    context->save_for_backward(weights.vec());
    context->set_materialize_grads(false);
    context->saved_data["kernels"] = reinterpret_cast<std::int64_t>(kernels);
    variable_list copies;
    for (const torch::Tensor& weight : weights) {
      copies.push_back(torch::empty_like(weight, weight.options().dtype(torch::kBFloat16)));
    }
    kernels->cast(weights, copies);
    return copies;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list weights = context->get_saved_variables();
    variable_list from, to, result(weights.size() + 1);  // none by the kernels
    for (std::size_t i = 0; i < weights.size(); ++i) {
      if (!gradients[i].defined()) continue;  // of a weight without part in the loss
      result[i] = torch::empty_like(weights[i]);
      from.push_back(laid_out_as(gradients[i], weights[i]));
      to.push_back(result[i]);
    }
    const std::int64_t kernels = context->saved_data.at("kernels").toInt();
    // NOLINTNEXTLINE(performance-no-int-to-ptr): what a node saves has no pointers.
    reinterpret_cast<const CastKernels*>(kernels)->cast(from, to);
    return result;
  }
};

}  // namespace

const CastKernels* cast_kernels(const torch::Device& device) {
  return module_kernels<CastKernels>(device, "winnow_cast_kernels");
}

variable_list cast_weights(const variable_list& weights, const CastKernels& kernels) {
  if (weights.empty()) return {};
  return CastWeights::apply(at::TensorList(weights), &kernels);
}

bool casts_to_bf16(const torch::Device& device) {
  return at::autocast::is_autocast_enabled(device.type()) &&
         at::autocast::get_autocast_dtype(device.type()) == torch::kBFloat16;
}

}  // namespace winnow
