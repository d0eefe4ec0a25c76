#include "prune/training/fused/fused_operations.h"

#include <torch/torch.h>

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

struct FusedNorm : torch::autograd::Function<FusedNorm> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& input,
                               const torch::Tensor& weight, const torch::Tensor& bias,
                               const torch::Tensor& running_mean, const torch::Tensor& running_var,
                               const FusedKernels* kernels, const NormOptions& options) {
    const FusedKernels::Norm norm =
        kernels->norm(input, weight, bias, running_mean, running_var, options);
    context->save_for_backward({input, weight, bias, norm.mean, norm.inverse_deviation});
    context->saved_data["has_relu"] = options.has_relu;
    save_kernels(context, kernels);
    return norm.output;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const FusedKernels::NormGradients found = kernels_of(context).norm_backward(
        like(gradients[0], saved[0]), saved[0], saved[1], saved[2],
        {.output = {}, .mean = saved[3], .inverse_deviation = saved[4]},
        {.has_relu = context->saved_data.at("has_relu").toBool()});
    return {found.input, found.weight, found.bias, {}, {}, {}, {}};
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

bool is_plain_relu(const Node& node) {
  const Relu* relu = std::get_if<Relu>(&node.op);
  return relu && !relu->max_value;
}

// Windows of 2 x 2 side by side that cover the input.
bool is_quartering(const Pool& pool, const torch::Tensor& input) {
  const Pair two = {2, 2}, none = {0, 0};
  return pool.kind == PoolKind::max && pool.rank == 2 && pool.kernel == two && pool.stride == two &&
         pool.padding == none && !pool.padding_end && input.size(2) % 2 == 0 &&
         input.size(3) % 2 == 0;
}

}  // namespace

std::vector<std::size_t> relus_of_norms(const Graph& graph) {
  std::vector<std::size_t> readers(graph.nodes.size()), last(graph.nodes.size());
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    for (const std::string& name : graph.nodes[i].inputs) {
      const std::size_t input = node_index(graph, name);
      ++readers[input];
      last[input] = i;
    }
  }
  std::vector<std::size_t> relus(graph.nodes.size(), 0);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    if (!std::holds_alternative<BatchNorm>(graph.nodes[i].op)) continue;
    if (readers[i] == 1 && is_plain_relu(graph.nodes[last[i]])) relus[i] = last[i];
  }
  return relus;
}

torch::Tensor fused_operation(const FusedKernels& kernels, const Op& op,
                              std::span<const torch::Tensor> inputs,
                              std::span<const torch::Tensor> parameters, bool has_relu) {
  if (inputs.empty() || !is_fusible(inputs[0])) return {};
  if (const auto* norm = std::get_if<BatchNorm>(&op)) {
    const NormOptions options = {norm->momentum, norm->epsilon, has_relu};
    return FusedNorm::apply(inputs[0], parameters[0], parameters[1], parameters[2], parameters[3],
                            &kernels, options);
  }
  const auto* pool = std::get_if<Pool>(&op);
  if (!pool || !is_quartering(*pool, inputs[0])) return {};
  return FusedPool::apply(inputs[0], &kernels);
}

}  // namespace winnow
