#include "prune/training/network/network.h"

#include <torch/types.h>

#include <algorithm>

#include "prune/training/fused/fused_operations.h"
#include "prune/training/network/operations.h"
#include "prune/training/tensor_bridge.h"
#include "runtime/base/error.h"

namespace winnow {
namespace {

bool is_running_statistic(const std::string& name) {
  return name.ends_with(".running_mean") || name.ends_with(".running_var");
}

bool is_weight(const std::string& name) {
  return name.ends_with(".weight");
}

// Whether autocast takes it, with all its parameters, to lower precision.
bool is_product(const Op& op) {
  return std::holds_alternative<Conv>(op) || std::holds_alternative<Linear>(op);
}

void copy_in(const NamedTensor& target, const Node& node, const Model& model) {
  Tensor found;
  if (is_weight(target.name) && !std::holds_alternative<BatchNorm>(node.op)) {
    found = weight_of(model, node.name);
  } else if (const auto it = model.tensors.find(target.name); it != model.tensors.end()) {
    found = it->second;
  } else {
    fail(ErrorCode::bad_file, model.graph.name, ": tensor '", target.name, "' is missing");
  }
  if (found.shape() != target.value.sizes().vec()) {
    fail(ErrorCode::bad_file, model.graph.name, ": tensor '", target.name, "' is ",
         to_string(found.shape()), ", expected ", to_string(target.value.sizes().vec()));
  }
  target.value.copy_(to_torch(found, target.value.device()));
}

}  // namespace

Network::Network(Graph graph, const NetworkOptions& options)
    : graph_(std::move(graph)),
      options_(options),
      wiring_(graph_.nodes.size()),
      tails_(tails_of_norms(graph_)) {
  infer_shapes(graph_, 1);
  for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
    make_tensors(i);
    wire(i);
  }
}

void Network::make_tensors(std::size_t index) {
  for (const Parameter& parameter : parameters_of(graph_.nodes[index])) {
    const auto type = torch::TensorOptions().device(options_.device).dtype(options_.type);
    torch::Tensor value = torch::zeros(parameter.shape, type);
    if (value.dim() == 4) value = value.contiguous(options_.format);
    wiring_[index].values.push_back(value);
    if (is_running_statistic(parameter.name)) {
      statistics_.push_back({parameter.name, index, value});
    } else {
      value.requires_grad_(true);
      parameters_.push_back({parameter.name, index, value});
    }
  }
}

void Network::wire(std::size_t index) {
  for (const std::string& name : graph_.nodes[index].inputs) {
    const std::size_t input = node_index(graph_, name);
    for (Wiring& earlier : wiring_) std::erase(earlier.finished, input);
    auto& finished = wiring_[index].finished;
    if (std::find(finished.begin(), finished.end(), input) == finished.end()) {
      finished.push_back(input);
    }
    wiring_[index].inputs.push_back(input);
  }
}

void Network::load(const Model& model) {
  const torch::NoGradGuard no_grad;
  for (const auto* group : {&parameters_, &statistics_}) {
    for (const NamedTensor& tensor : *group) copy_in(tensor, graph_.nodes[tensor.node], model);
  }
}

void Network::store(Model& model) const {
  for (const auto* group : {&parameters_, &statistics_}) {
    for (const NamedTensor& tensor : *group) {
      model.tensors[tensor.name] = to_host(tensor.value.detach().to(torch::kFloat));
    }
  }
}

torch::Tensor Network::forward(const torch::Tensor& input, Mode mode, const Hook& hook) const {
  return run(input, mode, hook, graph_.nodes.size());
}

torch::Tensor Network::logits(const torch::Tensor& input, Mode mode, const Hook& hook) const {
  const bool ends_in_softmax = std::holds_alternative<Softmax>(graph_.nodes.back().op);
  return run(input, mode, hook, graph_.nodes.size() - (ends_in_softmax ? 1 : 0));
}

// The values of each node, for one pass, with copies of those that autocast would cast node by
// node. Empty where no kernels do that: nodes then have their own.
std::vector<Network::Tensors> Network::cast_values(Mode mode) const {
  const bool casts = options_.casts && options_.type == torch::kFloat && mode == Mode::training;
  if (!casts || !casts_to_bf16(options_.device)) return {};
  std::vector<Tensors> all;
  for (const Wiring& wiring : wiring_) all.push_back(wiring.values);
  std::vector<torch::Tensor*> values;
  Tensors weights;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!is_product(graph_.nodes[i].op)) continue;
    for (torch::Tensor& value : all[i]) {
      values.push_back(&value);
      weights.push_back(value);
    }
  }
  Tensors copies = cast_weights(weights, *options_.casts);
  for (std::size_t i = 0; i < values.size(); ++i) *values[i] = std::move(copies[i]);
  return all;
}

torch::Tensor Network::run_node(std::size_t index, std::span<const torch::Tensor> inputs,
                                std::span<const torch::Tensor> own, Mode mode) const {
  const Op& op = graph_.nodes[index].op;
  const bool is_training = mode == Mode::training;
  const auto* dropout = std::get_if<Dropout>(&op);
  if (dropout && is_training && part_.of > 0) return apply_dropout(*dropout, inputs[0], part_);
  return apply_operation(op, inputs, own, is_training);
}

bool Network::run_fused(std::size_t index, std::span<const torch::Tensor> inputs,
                        std::vector<torch::Tensor>& values, Mode mode) const {
  NormTail tail = tails_[index];
  torch::Tensor addend = tail.add > 0 ? values[tail.addend] : torch::Tensor();
  if (tail.add > 0 && !is_addend(addend, inputs[0])) {
    addend = torch::Tensor();
    tail = {};
  }
  torch::Tensor value =
      fused_operation(*options_.fused, graph_.nodes[index].op, inputs, wiring_[index].values,
                      {addend, tail.relu > 0}, mode == Mode::training);
  if (!value.defined()) return false;
  for (const std::size_t done : {tail.add, tail.relu}) {
    if (done > 0) values[done] = value;
  }
  values[index] = std::move(value);
  return true;
}

torch::Tensor Network::run(const torch::Tensor& input, Mode mode, const Hook& hook,
                           std::size_t end) const {
  std::vector<torch::Tensor> values(graph_.nodes.size());
  values[0] = input.dim() == 4 ? input.contiguous(options_.format) : input;
  if (hook) values[0] = hook(graph_.nodes[0], values[0]);
  const std::vector<Tensors> cast = cast_values(mode);
  const bool is_fused = options_.fused != nullptr && !hook &&
                        (mode == Mode::training || !torch::GradMode::is_enabled());
  std::vector<torch::Tensor> inputs;
  for (std::size_t i = 1; i < end; ++i) {
    const Wiring& wiring = wiring_[i];
    inputs.clear();
    for (const std::size_t source : wiring.inputs) inputs.push_back(values[source]);
    const bool is_done = values[i].defined() || (is_fused && run_fused(i, inputs, values, mode));
    if (!is_done) values[i] = run_node(i, inputs, cast.empty() ? wiring.values : cast[i], mode);
    if (hook) values[i] = hook(graph_.nodes[i], values[i]);
    for (const std::size_t done : wiring.finished) values[done] = torch::Tensor();
  }
  // A final softmax that is left out stands on the value of its own input, the last one computed
  // or any earlier node that nothing after it has finished.
  return end == graph_.nodes.size() ? values.back() : values[wiring_.back().inputs[0]];
}

}  // namespace winnow
