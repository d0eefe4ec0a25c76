#include "export/channel_cuts.h"

#include <algorithm>

#include "runtime/model/tensor_slices.h"
#include "runtime/model/weight_parts.h"

namespace winnow {
namespace {

void cut(Model& model, const std::string& name, std::size_t dimension,
         const std::vector<bool>& is_removed) {
  const auto tensor = model.tensors.find(name);
  if (tensor == model.tensors.end()) return;
  tensor->second = without_slices(tensor->second, dimension, is_removed);
}

void cut_mask_rows(Model& model, const Node& node, const std::vector<bool>& is_removed) {
  const auto vector = model.mask_vector.find(node.name);
  if (vector == model.mask_vector.end()) return;
  std::vector<bool> rows;
  for (std::size_t first = 0; first < is_removed.size();
       first += static_cast<std::size_t>(vector->second)) {
    rows.push_back(is_removed[first]);
  }
  cut(model, weight_name(node) + ".mask", 0, rows);
}

}  // namespace

WeightBlock::WeightBlock(const Model& model, const Node& node) {
  const Tensor weight = weight_of(model, node.name);
  const auto all = weight.values<float>();
  values.assign(all.begin(), all.end());
  outputs = weight.shape()[0];
  inputs = weight.shape()[1];
  taps = weight.count() / (outputs * inputs);
}

double WeightBlock::sum(std::int64_t k, std::int64_t first, std::int64_t count) const {
  const auto begin = values.begin() + (k * inputs + first) * taps;
  double total = 0;
  std::for_each(begin, begin + count * taps, [&](float w) { total += static_cast<double>(w); });
  return total;
}

bool WeightBlock::is_zero(std::int64_t k, std::int64_t first, std::int64_t count) const {
  const auto begin = values.begin() + (k * inputs + first) * taps;
  return std::all_of(begin, begin + count * taps, [](float w) { return w == 0; });
}

double bias_at(const Model& model, const Node& node, std::int64_t k) {
  const auto bias = model.tensors.find(bias_name(node));
  if (bias == model.tensors.end()) return 0;
  return bias->second.values<float>()[static_cast<std::size_t>(k)];
}

void cut_outputs(Model& model, std::size_t index, const std::vector<bool>& is_removed) {
  Node& node = model.graph.nodes[index];
  const std::string weight = weight_name(node);
  for (const std::string& name :
       {weight, weight + ".codes", weight + ".channel_scale", bias_name(node)}) {
    cut(model, name, 0, is_removed);
  }
  cut_mask_rows(model, node, is_removed);
  const std::int64_t left = std::count(is_removed.begin(), is_removed.end(), false);
  if (auto* conv = std::get_if<Conv>(&node.op)) {
    conv->out_channels = left;
    if (conv->groups > 1) conv->in_channels = conv->groups = left;
  }
  if (auto* linear = std::get_if<Linear>(&node.op)) linear->out_features = left;
}

void cut_inputs(Model& model, std::size_t index, const std::vector<bool>& is_removed) {
  Node& node = model.graph.nodes[index];
  for (const char* part : {"", ".codes", ".mask"}) {
    cut(model, weight_name(node) + part, 1, is_removed);
  }
  const std::int64_t left = std::count(is_removed.begin(), is_removed.end(), false);
  if (auto* conv = std::get_if<Conv>(&node.op)) conv->in_channels = left;
  if (auto* linear = std::get_if<Linear>(&node.op)) linear->in_features = left;
}

}  // namespace winnow
