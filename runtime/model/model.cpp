#include "runtime/model/model.h"

#include <algorithm>

#include "runtime/base/error.h"
#include "runtime/base/suggest.h"
#include "runtime/model/weight_parts.h"

namespace winnow {
namespace {

const Node& weighted_node(const Model& model, const std::string& name) {
  for (const Node& node : model.graph.nodes) {
    if (node.name == name && !parameters_of(node).empty()) return node;
  }
  fail(ErrorCode::bad_file, model.graph.name, ": no node ", in_quotes(name), " with a weight");
}

template <typename Code>
Tensor scaled(const WeightParts& parts) {
  const float scale = parts.scale->values<float>()[0];
  Tensor weight(DataType::f32, parts.shape);
  const auto codes = parts.codes->values<Code>();
  std::transform(codes.begin(), codes.end(), weight.values<float>().begin(),
                 [scale](Code code) { return scale * static_cast<float>(code); });
  return weight;
}

Tensor looked_up(const WeightParts& parts) {
  const std::vector<float> entries = to_floats(*parts.codebook);
  Tensor weight(DataType::f32, parts.shape);
  const auto codes = parts.codes->values<std::uint8_t>();
  std::transform(codes.begin(), codes.end(), weight.values<float>().begin(),
                 [&](std::uint8_t code) { return entries[code]; });
  if (!parts.channel_scale) return weight;
  const std::vector<float> scales = to_floats(*parts.channel_scale);
  const std::size_t inner = codes.size() / scales.size();
  for (std::size_t i = 0; i < codes.size(); ++i) weight.values<float>()[i] *= scales[i / inner];
  return weight;
}

}  // namespace

Tensor weight_of(const Model& model, const std::string& name) {
  const WeightParts parts = weight_parts(model, weighted_node(model, name), model.graph.name);
  if (parts.dense) return *parts.dense;
  if (parts.codebook) return looked_up(parts);
  return parts.codes->type() == DataType::i16 ? scaled<std::int16_t>(parts)
                                              : scaled<std::int8_t>(parts);
}

Tensor parameter_of(const Model& model, const Node& node, const Parameter& parameter) {
  const bool is_weight = parameter.name == weight_name(node) && has_prunable_weight(node);
  return is_weight ? weight_of(model, node.name) : model.tensors.at(parameter.name);
}

double sparsity(const Model& model) {
  std::int64_t masked = 0;
  std::int64_t all = 0;
  for (const Node& node : model.graph.nodes) {
    if (!has_prunable_weight(node)) continue;
    const WeightParts parts = weight_parts(model, node, model.graph.name);
    all += element_count(parts.shape);
    if (parts.mask) for_each_masked(parts, [&](std::size_t) { ++masked; });
  }
  return all == 0 ? 0.0 : static_cast<double>(masked) / static_cast<double>(all);
}

std::vector<float> dense_floats(const Weight& weight) {
  if (const auto* sparse = std::get_if<CsrWeight>(&weight)) return to_dense(*sparse);
  return decode(std::get<DenseWeight>(weight).values);
}

}  // namespace winnow
