#include "runtime/model/fold_batch_norm.h"

#include <algorithm>
#include <cmath>

#include "runtime/base/error.h"
#include "runtime/base/suggest.h"
#include "runtime/model/graph_edit.h"
#include "runtime/model/weight_parts.h"

namespace winnow {
namespace {

constexpr std::int64_t kLargestDiagonal = 4096;  // features; its dense weight takes 64 MiB

// y = scale (x - mean) + bias per channel.
struct Affine {
  std::vector<double> scale;
  std::vector<double> mean;
  std::vector<double> bias;

  double shift(std::size_t channel) const { return bias[channel] - scale[channel] * mean[channel]; }
};

std::span<const float> floats(const Model& model, const std::string& name) {
  return model.tensors.at(name).values<float>();
}

Affine affine_of(const Model& model, const Node& node) {
  const auto weight = floats(model, weight_name(node));
  const auto variance = floats(model, node.name + ".running_var");
  const double epsilon = std::get<BatchNorm>(node.op).epsilon;
  const auto mean = floats(model, node.name + ".running_mean");
  const auto bias = floats(model, bias_name(node));
  Affine affine{{}, {mean.begin(), mean.end()}, {bias.begin(), bias.end()}};
  for (std::size_t c = 0; c < weight.size(); ++c) {
    affine.scale.push_back(weight[c] / std::sqrt(variance[c] + epsilon));
  }
  return affine;
}

float finite(const Model& model, const Node& node, double value) {
  const auto rounded = static_cast<float>(value);
  if (std::isfinite(rounded)) return rounded;
  fail(ErrorCode::bad_file, model.graph.name, ": node ", in_quotes(node.name),
       ": folding its batch norm gives a weight that is not finite");
}

void require_floats(const Model& model, const Node& node) {
  if (!weight_parts(model, node, model.graph.name).codes) return;
  fail(ErrorCode::usage, model.graph.name, ": node ", in_quotes(node.name),
       " is quantized, but its batch norm is not folded yet");
}

void scale_weights(Model& model, const Node& node, const Affine& affine) {
  const auto weight = model.tensors.at(weight_name(node)).values<float>();
  const std::size_t inner = weight.size() / affine.scale.size();
  for (std::size_t i = 0; i < weight.size(); ++i) {
    if (weight[i] != 0) weight[i] = finite(model, node, weight[i] * affine.scale[i / inner]);
  }
}

// Codes and codebook stay: the factor goes into the scales of the channels, and `affine` becomes
// what their rounding to fp16 makes of it.
void scale_channels(Model& model, const Node& node, Affine& affine) {
  Tensor& scales = model.tensors[weight_name(node) + ".channel_scale"];
  if (scales.count() == 0) {
    const std::vector<Half> ones(affine.scale.size(), to_half(1.0f));
    scales = Tensor::from<Half>({static_cast<std::int64_t>(ones.size())}, ones);
  }
  for (std::size_t k = 0; k < affine.scale.size(); ++k) {
    Half& scale = scales.values<Half>()[k];
    const double before = to_float(scale);
    scale = to_half(finite(model, node, before * affine.scale[k]));
    const double after = to_float(scale);
    if (!std::isfinite(after)) {
      fail(ErrorCode::bad_file, model.graph.name, ": node ", in_quotes(node.name),
           ": folding its batch norm gives a channel scale beyond fp16");
    }
    if (before != 0) affine.scale[k] = after / before;
  }
}

// scale (W x + b - mean) + bias
void fold_into_producer(Model& model, Node& node, Affine affine) {
  if (weight_parts(model, node, model.graph.name).codebook) {
    scale_channels(model, node, affine);
  } else {
    require_floats(model, node);
    scale_weights(model, node, affine);
  }
  const auto bias = bias_of(model, node);
  for (std::size_t k = 0; k < bias.size(); ++k) {
    bias[k] = finite(model, node, bias[k] * affine.scale[k] + affine.shift(k));
  }
}

// W (scale (x - mean) + bias) + b
void fold_into_reader(Model& model, Node& node, const Affine& affine) {
  require_floats(model, node);
  const auto weight = model.tensors.at(weight_name(node)).values<float>();
  const auto bias = bias_of(model, node);
  const std::size_t inner = affine.scale.size();
  for (std::size_t k = 0; k < bias.size(); ++k) {
    double sum = bias[k];
    for (std::size_t c = 0; c < inner; ++c) {
      float& w = weight[k * inner + c];
      if (w == 0) continue;
      sum += w * affine.shift(c);
      w = finite(model, node, w * affine.scale[c]);
    }
    bias[k] = finite(model, node, sum);
  }
}

Op depthwise(std::int64_t channels, int rank) {
  Conv op;
  op.rank = rank;
  op.in_channels = op.out_channels = op.groups = channels;
  return op;
}

// Adds the mask of a diagonal, without which its zeros would be stored.
void add_diagonal_mask(Model& model, const std::string& node, std::int64_t features) {
  Tensor mask(DataType::u8, {features, features});
  const auto blocks = mask.values<std::uint8_t>();
  const auto stride = static_cast<std::size_t>(features) + 1;
  for (std::size_t i = 0; i < blocks.size(); i += stride) blocks[i] = 1;
  model.tensors[node + ".weight.mask"] = std::move(mask);
  model.mask_vector[node] = 1;
}

// Puts a convolution or linear node in the place of the batch norm.
void replace(Model& model, Node& node, const Affine& affine, std::size_t rank) {
  const auto channels = static_cast<std::int64_t>(affine.scale.size());
  for (const Parameter& parameter : parameters_of(node)) model.tensors.erase(parameter.name);
  const bool is_flat = rank == 2;
  if (is_flat && channels > kLargestDiagonal) {
    fail(ErrorCode::bad_file, model.graph.name, ": node ", in_quotes(node.name), ": batch norm of ",
         channels, " features that no neighbour can take in, at most ", kLargestDiagonal,
         " expected");
  }
  node.op = is_flat ? Op(Linear{channels, channels, true})
                    : depthwise(channels, static_cast<int>(rank) - 2);
  for (const Parameter& parameter : parameters_of(node)) {
    model.tensors[parameter.name] = Tensor(DataType::f32, parameter.shape);
  }
  const auto weight = model.tensors.at(weight_name(node)).values<float>();
  const auto bias = model.tensors.at(bias_name(node)).values<float>();
  const std::size_t stride = is_flat ? affine.scale.size() + 1 : 1;
  for (std::size_t c = 0; c < bias.size(); ++c) {
    weight[c * stride] = finite(model, node, affine.scale[c]);
    bias[c] = finite(model, node, affine.shift(c));
  }
  if (is_flat) add_diagonal_mask(model, node.name, channels);
}

bool can_fold_into_readers(const Model& model, const std::vector<std::size_t>& readers) {
  return !readers.empty() && std::all_of(readers.begin(), readers.end(), [&](std::size_t reader) {
    return std::holds_alternative<Linear>(model.graph.nodes[reader].op);
  });
}

// The producer's format would be that of a value which no longer exists.
void take_over_format(Model& model, const std::string& producer, const std::string& batch_norm) {
  model.activation_frac.erase(producer);
  const auto format = model.activation_frac.find(batch_norm);
  if (format != model.activation_frac.end()) model.activation_frac[producer] = format->second;
}

void fold(Model& model, std::size_t index) {
  const Node node = model.graph.nodes[index];
  const Affine affine = affine_of(model, node);
  Node& producer = model.graph.nodes[node_index(model.graph, node.inputs[0])];
  if (has_prunable_weight(producer) && readers_of(model.graph, producer.name).size() == 1) {
    fold_into_producer(model, producer, affine);
    take_over_format(model, producer.name, node.name);
    bypass_node(model, index);
    return;
  }
  const std::vector<std::size_t> readers = readers_of(model.graph, node.name);
  if (can_fold_into_readers(model, readers)) {
    for (const std::size_t reader : readers) {
      fold_into_reader(model, model.graph.nodes[reader], affine);
    }
    bypass_node(model, index);
    return;
  }
  replace(model, model.graph.nodes[index], affine, infer_shapes(model.graph, 1)[index].size());
}

}  // namespace

Model fold_batch_norm(Model model) {
  check_model(model, model.graph.name);
  model = remove_dropouts(std::move(model));
  // In order, so that the second of two in a row finds the first one folded.
  for (std::size_t i = 0; i < model.graph.nodes.size();) {
    if (std::holds_alternative<BatchNorm>(model.graph.nodes[i].op)) {
      fold(model, i);
    } else {
      ++i;
    }
  }
  return model;
}

}  // namespace winnow
