#include <algorithm>

#include "runtime/base/error.h"
#include "runtime/base/suggest.h"
#include "runtime/model/model.h"
#include "runtime/model/model_checks.h"
#include "runtime/model/weight_parts.h"

namespace winnow {
namespace {

// A parameter of a node and where a message about it begins.
struct Slot {
  Parameter parameter;
  bool may_be_sparse = false;
  std::string place;
};

[[noreturn]] void refuse(const Slot& slot, const std::string& what) {
  fail(ErrorCode::bad_file, slot.place, ": ", what);
}

void check_form(const DenseWeight& weight, const Slot& slot) {
  const Shape& expected = slot.parameter.shape;
  if (weight.shape != expected) {
    refuse(slot, "shape is " + to_string(weight.shape) + ", expected " + to_string(expected));
  }
  const std::string defect = find_defect(weight.values);
  if (!defect.empty()) refuse(slot, defect);
  if (weight.values.count != element_count(expected)) {
    refuse(slot, std::to_string(weight.values.count) + " values, expected " +
                     std::to_string(element_count(expected)));
  }
  const std::size_t scales = weight.values.channel_scale.size();
  if (scales != 0 && (weight.values.lanes != 1 || expected.empty() ||
                      scales != static_cast<std::uint64_t>(expected[0]))) {
    refuse(slot, std::to_string(scales) + " channel scales in rows of " +
                     std::to_string(weight.values.lanes) + " channels, shape is " +
                     to_string(expected));
  }
  const bool is_bias = slot.parameter.name.ends_with(".bias");
  if (is_bias && weight.values.encoding != Encoding::f32) {
    refuse(slot, "a bias must be f32, found " + std::string(to_string(weight.values.encoding)));
  }
}

void check_form(const CsrWeight& weight, const Slot& slot) {
  if (!slot.may_be_sparse) refuse(slot, "is sparse, expected dense");
  const std::int64_t channels = slot.parameter.shape[0];
  const std::int64_t cols = element_count(slot.parameter.shape) / channels;
  if (weight.channels != channels || weight.cols != cols) {
    refuse(slot, "size is " + to_string({weight.channels, weight.cols}) + ", expected " +
                     to_string({channels, cols}));
  }
  const std::string defect = find_defect(weight);
  if (!defect.empty()) refuse(slot, defect);
}

std::vector<Slot> slots_of(const Node& node, const std::string& place) {
  if (std::holds_alternative<BatchNorm>(node.op) || std::holds_alternative<Dropout>(node.op)) {
    fail(ErrorCode::bad_file, place, ": node ", in_quotes(node.name), ": ", op_name(node.op),
         " has no place in a deployed model");
  }
  std::vector<Slot> slots;
  for (const Parameter& parameter : parameters_of(node)) {
    const bool is_weight = slots.empty();
    slots.push_back({parameter, is_weight && has_prunable_weight(node),
                     place + ": weight " + in_quotes(parameter.name)});
  }
  return slots;
}

}  // namespace

void check_deployed_model(const DeployedModel& model, const std::string& place) {
  check_shared_state({model.graph, model.activation_frac, model.activation_bits,
                      model.preprocessing, model.classes},
                     place);
  std::vector<std::string> known;
  for (const Node& node : model.graph.nodes) {
    for (const Slot& slot : slots_of(node, place)) {
      const auto weight = model.weights.find(slot.parameter.name);
      if (weight == model.weights.end()) refuse(slot, "is missing");
      std::visit([&](const auto& form) { check_form(form, slot); }, weight->second);
      known.push_back(slot.parameter.name);
    }
  }
  for (const auto& [name, weight] : model.weights) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    fail(ErrorCode::bad_file, place, ": weight ", in_quotes(name), " belongs to no node",
         suggestion(name, known));
  }
}

}  // namespace winnow
