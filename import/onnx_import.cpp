#include "import/onnx_import.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "import/import_refused.h"
#include "import/operator_table.h"
#include "runtime/base/suggest.h"

namespace winnow {
namespace {

constexpr std::int64_t kOldestOpset = 7;   // operators have broadcast in the same way since then
constexpr std::int64_t kNewestOpset = 28;  // the newest whose operators were looked at

bool is_own_domain(const std::string& domain) {
  return domain.empty() || domain == "ai.onnx";
}

// Walks the nodes in order and knows what every name stands for.
class OnnxImport {
 public:
  OnnxImport(const OnnxModel& model, const std::string& file, const Shape& sample)
      : model_(model), file_(file), network_(network_name(model), sample_shape(sample)) {
    for (const OnnxNode& node : model.nodes) {
      for (const std::string& name : node.inputs) ++readers_[name];
    }
    for (const std::string& name : model.outputs) ++readers_[name];
    for (const auto& [name, tensor] : model.initializers) {
      values_.emplace(name, constant_value(tensor));
    }
    OnnxValue value;
    value.kind = OnnxValue::Kind::network;
    value.node = network_.input();
    value.shape = network_.shape_of(value.node);
    values_.insert_or_assign(input().name, value);
  }

  Model run() {
    for (const OnnxNode& node : model_.nodes) translate(node);
    const std::string output = reasons_.empty() ? output_node() : "";
    if (!reasons_.empty()) {
      throw ImportRefused(file_ + ": cannot be imported", std::move(reasons_));
    }
    return network_.finish(output);
  }

 private:
  static std::string network_name(const OnnxModel& model) {
    return model.name.empty() ? "onnx" : model.name;
  }

  // The one input that is no initializer.
  const OnnxInput& input() const {
    const OnnxInput* found = nullptr;
    for (const OnnxInput& input : model_.inputs) {
      if (model_.initializers.contains(input.name)) continue;
      if (found) {
        fail(ErrorCode::bad_file, file_, ": found the inputs ", in_quotes(found->name), " and ",
             in_quotes(input.name), ", expected one");
      }
      found = &input;
    }
    if (!found) fail(ErrorCode::bad_file, file_, ": found no input, expected one");
    return *found;
  }

  Shape sample_shape(const Shape& asked) const {
    const OnnxInput& input = this->input();
    const std::string place = file_ + ": input " + in_quotes(input.name) + ": ";
    constexpr std::int64_t kReals[] = {1, 10, 11, 16};  // float, float16, double, bfloat16
    if (std::find(std::begin(kReals), std::end(kReals), input.element_type) == std::end(kReals)) {
      fail(ErrorCode::bad_file, place, "found element type ", input.element_type,
           ", expected real numbers (1, 10, 11 or 16)");
    }
    if (!asked.empty()) return asked;
    if (input.shape.size() < 2 || input.shape.size() > 4) {
      fail(ErrorCode::bad_file, place, "found ", input.shape.size(),
           " dimensions, expected 2 to 4 with the batch first");
    }
    const Shape shape(input.shape.begin() + 1, input.shape.end());
    if (std::any_of(shape.begin(), shape.end(), [](std::int64_t size) { return size < 1; })) {
      fail(ErrorCode::bad_file, place, "its sizes are not all known; give them by --input-shape");
    }
    return shape;
  }

  std::optional<std::int64_t> batch() const {
    const OnnxInput& input = this->input();
    if (input.shape.empty() || input.shape[0] < 1) return std::nullopt;
    return input.shape[0];
  }

  void refuse(const OnnxNode& node, const std::string& reason) {
    const std::string name = node.name.empty() && !node.outputs.empty()
                                 ? "that gives " + in_quotes(node.outputs[0])
                                 : in_quotes(node.name);
    reasons_.push_back("node " + name + " (" + one_line(node.op) + "): " + reason);
  }

  // Throws Error{bad_file} if the node contradicts its operator.
  const OnnxOperator& operator_of(const OnnxNode& node) const {
    const OnnxOperator* known = is_own_domain(node.domain) ? find_onnx_operator(node.op) : nullptr;
    if (!known) {
      const std::string domain =
          is_own_domain(node.domain) ? "" : " of the domain " + in_quotes(node.domain);
      fail(ErrorCode::bad_file, "the operator", domain, " is not supported");
    }
    for (const auto& [name, attribute] : node.attributes) {
      const auto& names = known->attributes;
      if (std::find(names.begin(), names.end(), name) != names.end()) continue;
      fail(ErrorCode::bad_file, "its attribute ", in_quotes(name), " is not supported");
    }
    if (node.inputs.size() < known->least_inputs || node.inputs.size() > known->most_inputs) {
      fail(ErrorCode::bad_file, "found ", node.inputs.size(), " inputs, expected ",
           known->least_inputs, " to ", known->most_inputs);
    }
    if (node.outputs.empty()) fail(ErrorCode::bad_file, "it has no output");
    return *known;
  }

  OnnxValue input_value(const std::string& name) const {
    if (name.empty()) return {};
    const auto found = values_.find(name);
    if (found != values_.end()) return found->second;
    for (const OnnxNode& other : model_.nodes) {
      if (std::find(other.outputs.begin(), other.outputs.end(), name) == other.outputs.end()) {
        continue;
      }
      fail(ErrorCode::bad_file, "reads ", in_quotes(name), ", which node ", in_quotes(other.name),
           " gives only behind it or not at all");
    }
    fail(ErrorCode::bad_file, "reads ", in_quotes(name),
         ", which no input, initializer or node gives");
  }

  // The values of a node's outputs: unknown ones where it cannot be translated or reads such.
  OnnxValue translated(const OnnxNode& node) {
    OnnxValue unknown;
    unknown.kind = OnnxValue::Kind::unknown;
    try {
      OnnxCall call{node, network_, model_.opset, batch()};
      for (const std::string& name : node.inputs) {
        call.inputs.push_back(input_value(name));
        call.inputs.back().is_read_once = readers_[name] == 1 && call.inputs.back().is_read_once;
        call.constant_names.push_back(model_.initializers.contains(name) ? name : "");
      }
      const OnnxOperator& known = operator_of(node);
      for (const OnnxValue& value : call.inputs) {
        if (value.kind == OnnxValue::Kind::unknown) return unknown;
      }
      return known.translate(call);
    } catch (const Error& error) {
      if (error.code() == ErrorCode::internal) throw;
      refuse(node, error.what());
      return unknown;
    }
  }

  void translate(const OnnxNode& node) {
    OnnxValue value = translated(node);
    const bool is_new = made_.insert(value.node).second;
    value.is_read_once = value.kind == OnnxValue::Kind::network && (value.is_read_once || is_new);
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      const std::string& name = node.outputs[i];
      if (name.empty()) continue;
      OnnxValue unknown;
      unknown.kind = OnnxValue::Kind::unknown;
      if (!values_.emplace(name, i == 0 ? value : unknown).second) {
        refuse(node, "its output " + in_quotes(name) + " exists already");
      }
    }
  }

  std::string output_node() {
    if (model_.outputs.size() != 1) {
      fail(ErrorCode::bad_file, file_, ": found ", model_.outputs.size(), " outputs, expected one");
    }
    const auto found = values_.find(model_.outputs[0]);
    const bool is_layer = found != values_.end() &&
                          found->second.kind == OnnxValue::Kind::network &&
                          found->second.node != network_.input();
    if (!is_layer) {
      fail(ErrorCode::bad_file, file_, ": output ", in_quotes(model_.outputs[0]),
           " is given by no layer");
    }
    if (found->second.is_padded()) {
      fail(ErrorCode::bad_file, file_, ": output ", in_quotes(model_.outputs[0]), " is padded");
    }
    return found->second.node;
  }

  const OnnxModel& model_;
  const std::string& file_;
  NetworkBuilder network_;
  std::map<std::string, OnnxValue> values_;
  std::map<std::string, int> readers_;
  std::set<std::string> made_;  // nodes of the network that a name has stood for
  std::vector<std::string> reasons_;
};

}  // namespace

Model import_onnx(const OnnxModel& model, const std::string& file, const Shape& sample) {
  if (model.opset < kOldestOpset || model.opset > kNewestOpset) {
    fail(ErrorCode::bad_file, file, ": found operator set ", model.opset, ", expected ",
         kOldestOpset, " to ", kNewestOpset);
  }
  return OnnxImport(model, file, sample).run();
}

}  // namespace winnow
