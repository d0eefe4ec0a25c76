#include <algorithm>

#include "runtime/base/error.h"
#include "runtime/base/suggest.h"
#include "runtime/model/checked_values.h"
#include "runtime/model/model.h"
#include "runtime/model/model_checks.h"
#include "runtime/model/weight_parts.h"

namespace winnow {
namespace {

template <typename T>
bool is_zero(const Tensor& tensor, std::size_t index) {
  return tensor.values<T>()[index] == 0;  // -0 is as good as 0
}

bool is_zero(const Tensor& tensor, std::size_t index) {
  switch (tensor.type()) {
    case DataType::f32:
      return is_zero<float>(tensor, index);
    case DataType::i16:
      return is_zero<std::int16_t>(tensor, index);
    case DataType::i8:
      return is_zero<std::int8_t>(tensor, index);
    default:
      return is_zero<std::uint8_t>(tensor, index);
  }
}

void check_masked_weights(const WeightParts& parts, const std::string& place) {
  if (!parts.mask) return;
  for_each_masked(parts, [&](std::size_t index) {
    if (is_zero(parts.stored(), index)) return;
    fail(ErrorCode::bad_file, place, ": '", parts.name, "': element ", index,
         " is masked, but not 0");
  });
}

void check_plain(const Model& model, const Parameter& parameter, const std::string& place) {
  const auto found = model.tensors.find(parameter.name);
  if (found == model.tensors.end()) {
    fail(ErrorCode::bad_file, place, ": tensor '", parameter.name, "' is missing");
  }
  const Tensor& tensor = found->second;
  if (tensor.type() == DataType::f32 && tensor.shape() == parameter.shape) return;
  fail(ErrorCode::bad_file, place, ": tensor '", parameter.name, "': found ",
       to_string(tensor.type()), " ", to_string(tensor.shape()), ", expected F32 ",
       to_string(parameter.shape));
}

// A misspelt name would otherwise be taken for a weight without a mask.
void check_names(const Model& model, const Node& node, const std::string& place) {
  std::vector<std::string> known;
  for (const Parameter& parameter : parameters_of(node)) known.push_back(parameter.name);
  if (has_prunable_weight(node)) {
    for (const char* part : {".mask", ".codes", ".scale", ".codebook", ".channel_scale"}) {
      known.push_back(weight_name(node) + part);
    }
  }
  const std::string prefix = node.name + ".";
  for (auto tensor = model.tensors.lower_bound(prefix);
       tensor != model.tensors.end() && tensor->first.starts_with(prefix); ++tensor) {
    if (std::find(known.begin(), known.end(), tensor->first) != known.end()) continue;
    const bool is_of_longer_node =
        std::any_of(model.graph.nodes.begin(), model.graph.nodes.end(), [&](const Node& other) {
          return other.name.size() > node.name.size() &&
                 tensor->first.starts_with(other.name + ".");
        });
    if (is_of_longer_node) continue;
    fail(ErrorCode::bad_file, place, ": unknown tensor ", in_quotes(tensor->first),
         suggestion(tensor->first, known));
  }
}

// Of everything that belongs to the node: plain parameters, weights, scales and codebooks.
void check_numbers(const Model& model, const Node& node, const std::string& place) {
  std::vector<std::string> names;
  for (const Parameter& parameter : parameters_of(node)) names.push_back(parameter.name);
  for (const char* part : {".scale", ".codebook", ".channel_scale"}) {
    names.push_back(weight_name(node) + part);
  }
  for (const std::string& name : names) {
    const auto found = model.tensors.find(name);
    if (found != model.tensors.end()) require_finite(found->second, name, place);
  }
}

void check_node(const Model& model, const Node& node, const std::string& place) {
  const std::vector<Parameter> parameters = parameters_of(node);
  for (const Parameter& parameter : parameters) {
    const bool is_weight = &parameter == &parameters.front() && has_prunable_weight(node);
    if (!is_weight) check_plain(model, parameter, place);
  }
  if (has_prunable_weight(node)) check_masked_weights(weight_parts(model, node, place), place);
  check_numbers(model, node, place);
  check_names(model, node, place);
}

}  // namespace

void check_model(const Model& model, const std::string& place) {
  check_shared_state({model.graph, model.activation_frac, model.activation_bits,
                      model.preprocessing, model.classes},
                     place);
  std::vector<std::string> maskable;
  for (const Node& node : model.graph.nodes) {
    check_node(model, node, place);
    if (has_prunable_weight(node)) maskable.push_back(node.name);
  }
  for (const auto& [name, vector] : model.mask_vector) {
    if (std::find(maskable.begin(), maskable.end(), name) != maskable.end()) continue;
    fail(ErrorCode::bad_file, place, ": mask vector for ", in_quotes(name),
         ", which is no conv or linear node", suggestion(name, maskable));
  }
}

}  // namespace winnow
