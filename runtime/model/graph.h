// The one description of a network: typed nodes with named tensors between them.
//
// The trainer interprets it with LibTorch, the runtime plans and runs it with its kernels, quantize
// and export are functions from model to model. Sizes: N images, C input channels, K output
// channels, H x W (or L) positions, R x S kernel.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "runtime/model/shape.h"

namespace winnow {

using Pair = std::array<std::int64_t, 2>;  // {vertical, horizontal}; rank 1 uses {1 or 0, value}

// The network's input: what one sample looks like, without the batch dimension.
struct Input {
  Shape shape;             // [C, H, W], [C, L] or [L] token numbers
  bool is_tokens = false;  // integers for an embedding instead of real numbers

  friend bool operator==(const Input&, const Input&) = default;
};

// conv2d (rank 2, [N, C, H, W]) and conv1d (rank 1, [N, C, L]; kernel, stride, padding and dilation
// then are {1, .}, {1, .}, {0, .}, {1, .}). Parameters: weight [K, C / groups, R, S] (rank 1:
// [K, C / groups, S]), bias [K].
struct Conv {
  int rank = 2;
  std::int64_t in_channels = 0;
  std::int64_t out_channels = 0;
  Pair kernel = {1, 1};
  Pair stride = {1, 1};
  Pair padding = {0, 0};
  Pair dilation = {1, 1};
  std::int64_t groups = 1;
  bool has_bias = true;

  friend bool operator==(const Conv&, const Conv&) = default;
};

// y = x W^T + b of [N, in] (flatten before, or a global pool). Parameters: weight [out, in], bias
// [out].
struct Linear {
  std::int64_t in_features = 0;
  std::int64_t out_features = 0;
  bool has_bias = true;

  friend bool operator==(const Linear&, const Linear&) = default;
};

// Parameters: weight, bias, running_mean, running_var, all [channels].
struct BatchNorm {
  std::int64_t channels = 0;
  double epsilon = 1e-5;
  double momentum = 0.1;

  friend bool operator==(const BatchNorm&, const BatchNorm&) = default;
};

// max(x, 0), and no more than `max_value` where there is one (6: relu6).
struct Relu {
  std::optional<double> max_value{};

  friend bool operator==(const Relu&, const Relu&) = default;
};

enum class PoolKind { max, average };

// max_pool and avg_pool over [N, C, H, W] (rank 2), max_pool1d and avg_pool1d over [N, C, L] (rank
// 1). Padding is less than the kernel and never wins a maximum. pool_axis.h has the rules for sizes
// and divisors, which are those of torch and ONNX.
struct Pool {
  PoolKind kind = PoolKind::max;
  int rank = 2;
  Pair kernel = {2, 2};
  Pair stride = {2, 2};
  Pair padding = {0, 0};              // before the first position
  std::optional<Pair> padding_end{};  // behind the last one, where it is not `padding`
  bool rounds_up = false;             // output sizes: ceil_mode
  bool counts_padding = true;         // as 0 in an average: count_include_pad

  friend bool operator==(const Pool&, const Pool&) = default;
};

// global_max_pool and global_avg_pool: [N, C, ...] -> [N, C].
struct GlobalPool {
  PoolKind kind = PoolKind::average;

  friend bool operator==(const GlobalPool&, const GlobalPool&) = default;
};

struct Add {  // two or more inputs of equal shape
  friend bool operator==(const Add&, const Add&) = default;
};

struct Concat {  // along channels (dimension 1)
  friend bool operator==(const Concat&, const Concat&) = default;
};

struct Flatten {  // [N, ...] -> [N, product]
  friend bool operator==(const Flatten&, const Flatten&) = default;
};

// [N, L] token numbers -> [N, width, L], ready for conv1d. Parameter: weight [rows, width].
struct Embedding {
  std::int64_t rows = 0;
  std::int64_t width = 0;

  friend bool operator==(const Embedding&, const Embedding&) = default;
};

struct Dropout {  // active in training only
  double probability = 0.5;

  friend bool operator==(const Dropout&, const Dropout&) = default;
};

struct Softmax {  // over the last dimension
  friend bool operator==(const Softmax&, const Softmax&) = default;
};

using Op = std::variant<Input, Conv, Linear, BatchNorm, Relu, Pool, GlobalPool, Add, Concat,
                        Flatten, Embedding, Dropout, Softmax>;

// The op's name in files and messages: "conv2d", "max_pool", "global_avg_pool", ...
std::string op_name(const Op& op);

struct Node {
  std::string name;  // unique; parameters are called name + ".weight" and so on
  Op op;
  std::vector<std::string> inputs;  // names of earlier nodes

  friend bool operator==(const Node&, const Node&) = default;
};

// Nodes in an order in which every input precedes its use. The first node is the Input; the last
// node's value is the network's output.
struct Graph {
  std::string name;
  std::vector<Node> nodes;

  friend bool operator==(const Graph&, const Graph&) = default;
};

// The parameter names and shapes that `node` owns, in a fixed order (weight first).
struct Parameter {
  std::string name;  // "conv1.weight"
  Shape shape;
};
std::vector<Parameter> parameters_of(const Node& node);

// "conv1.weight" and "conv1.bias" for a node conv1, whether or not it has them.
std::string weight_name(const Node& node);
std::string bias_name(const Node& node);

// The shape of every node's value for a batch of `batch` samples, in node order.
// Checks the whole graph: names unique and known, order, number of inputs, settings in range
// (op_schema.h), shapes that meet, every value read; sizes and dense_macs then do not overflow.
// Throws Error{usage}: "vgg16: node 'conv2': expects 64 input channels, 'relu1' gives 32".
std::vector<Shape> infer_shapes(const Graph& graph, std::int64_t batch);

// Replaces in_channels, in_features and channels that are 0 by what the node's input gives, so that
// whoever writes a graph states sizes once. Checks the graph as infer_shapes does.
void fill_input_sizes(Graph& graph);

// Index of the node called `name`. Throws Error{usage} with a did-you-mean.
std::size_t node_index(const Graph& graph, std::string_view name);

// Rows of the embedding that reads the input's tokens, so tokens are below it; 0 if the input is
// something else.
std::int64_t token_rows(const Graph& graph);

// Multiply-accumulates of one sample in node `index` (conv and linear; 0 for others), dense.
std::int64_t dense_macs(const Graph& graph, const std::vector<Shape>& shapes, std::size_t index);

}  // namespace winnow
