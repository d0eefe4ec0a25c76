// A Graph as LibTorch runs it, forward and, through autograd, backward.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "prune/training/fused/cast_kernels.h"
#include "prune/training/fused/fused_kernels.h"
#include "prune/training/fused/norm_tails.h"
#include "prune/training/ranks/batch_part.h"
#include "runtime/model/graph.h"
#include "runtime/model/model.h"

namespace winnow {

enum class Mode { training, evaluation };

// A parameter or a running statistic under its name in Model::tensors.
struct NamedTensor {
  std::string name;      // "conv1.weight"
  std::size_t node = 0;  // index into graph().nodes
  torch::Tensor value;
};

struct NetworkOptions {
  torch::Device device = torch::kCPU;
  torch::ScalarType type = torch::kFloat;
  torch::MemoryFormat format = torch::MemoryFormat::Contiguous;  // of images and conv2d weights
  // For nodes that they compute: in training, and in evaluation without gradients, if no hook wants
  // every node's own value.
  const FusedKernels* fused = nullptr;
  const CastKernels* casts = nullptr;  // in training, for weights that autocast takes to bf16
};

// Holds the tensors. Not for several threads at once.
class Network {
 public:
  // Sees each node's value before its users do and returns what they shall use in its place.
  using Hook = std::function<torch::Tensor(const Node&, const torch::Tensor&)>;

  // Parameters are zeros until load(). Throws Error{usage} if the graph is not valid.
  Network(Graph graph, const NetworkOptions& options);

  const Graph& graph() const { return graph_; }
  const NetworkOptions& options() const { return options_; }

  // Trained tensors (leaves that require gradients), then running statistics, in node order.
  // Callers may change values in place.
  const std::vector<NamedTensor>& parameters() const { return parameters_; }
  const std::vector<NamedTensor>& statistics() const { return statistics_; }

  // Copies values in from `model` (through weight_of, so quantized weights count as their values)
  // and out to model.tensors as f32; other tensors of `model` are left alone.
  // Throws Error{bad_file} if one is missing or has another shape.
  void load(const Model& model);
  void store(Model& model) const;

  // The last node's value for `input` [N, ...]: floats of options().type, or tokens as int64.
  // Training uses and updates batch statistics and draws dropout from the device's default
  // generator; evaluation does neither.
  torch::Tensor forward(const torch::Tensor& input, Mode mode, const Hook& hook = {}) const;

  // Inputs of training are this part of a batch from now on: dropout is that of the whole batch, so
  // that each of its images drops what it does where one process has them all.
  void set_part(const BatchPart& part) { part_ = part; }

  // The same without a final softmax: what a cross entropy loss wants.
  torch::Tensor logits(const torch::Tensor& input, Mode mode, const Hook& hook = {}) const;

 private:
  struct Wiring {                       // of one node
    std::vector<std::size_t> inputs;    // node indices
    std::vector<torch::Tensor> values;  // its own tensors as parameters_of orders them
    std::vector<std::size_t> finished;  // nodes whose value nobody needs after this one
  };

  using Tensors = std::vector<torch::Tensor>;

  torch::Tensor run(const torch::Tensor& input, Mode mode, const Hook& hook, std::size_t end) const;
  std::vector<Tensors> cast_values(Mode mode) const;
  torch::Tensor run_node(std::size_t index, std::span<const torch::Tensor> inputs,
                         std::span<const torch::Tensor> own, Mode mode) const;
  bool run_fused(std::size_t index, std::span<const torch::Tensor> inputs,
                 std::vector<torch::Tensor>& values, Mode mode) const;
  void make_tensors(std::size_t index);
  void wire(std::size_t index);

  Graph graph_;
  NetworkOptions options_;
  BatchPart part_;  // without images: all inputs are whole batches
  std::vector<NamedTensor> parameters_;
  std::vector<NamedTensor> statistics_;
  std::vector<Wiring> wiring_;
  std::vector<NormTail> tails_;  // tails_of_norms()
};

}  // namespace winnow
