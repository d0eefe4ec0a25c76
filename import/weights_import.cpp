#include "import/weights_import.h"

#include <cmath>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "import/import_refused.h"
#include "runtime/base/random.h"
#include "runtime/base/suggest.h"
#include "runtime/model/weight_parts.h"

namespace winnow {
namespace {

// What the file's tensor `name` is called here.
std::string renamed(const std::string& name, const NameMap& names) {
  if (const auto whole = names.find(name); whole != names.end()) return whole->second;
  const std::size_t dot = name.rfind('.');
  if (dot == std::string::npos) return name;
  const auto node = names.find(name.substr(0, dot));
  return node == names.end() ? name : node->second + name.substr(dot);
}

bool is_real(DataType type) {
  return type == DataType::f32 || type == DataType::f16 || type == DataType::bf16 ||
         type == DataType::f64;
}

std::string described(const Tensor& tensor) {
  return std::string(to_string(tensor.type())) + " " + to_string(tensor.shape());
}

// Random weights as before training (He et al. 2015); everything else as if it were not there.
Tensor fresh(const Node& node, const Parameter& parameter, Random& random) {
  Tensor tensor(DataType::f32, parameter.shape);
  const std::span<float> values = tensor.values<float>();
  const bool is_one =
      std::holds_alternative<BatchNorm>(node.op) &&
      (parameter.name == weight_name(node) || parameter.name.ends_with(".running_var"));
  if (is_one) std::fill(values.begin(), values.end(), 1.0F);
  if (!has_prunable_weight(node) || parameter.name != weight_name(node)) return tensor;
  const double fan_in =
      static_cast<double>(tensor.count()) / static_cast<double>(tensor.shape()[0]);
  for (float& x : values) x = static_cast<float>(random.normal() * std::sqrt(2 / fan_in));
  return tensor;
}

// Goes through the parameters of a graph and takes each from the file.
class Matching {
 public:
  Matching(const SafetensorsFile& weights, const NameMap& names) {
    for (const auto& [name, tensor] : weights.tensors) {
      if (name.ends_with(".num_batches_tracked")) continue;
      const std::string ours = renamed(name, names);
      if (found_.emplace(ours, Found{name, &tensor, false}).second) continue;
      unmatched_.push_back("tensor " + in_quotes(name) + ": another one is " + in_quotes(ours) +
                           " too");
    }
  }

  Tensor take(const Node& node, const Parameter& parameter) {
    const auto found = found_.find(parameter.name);
    if (found == found_.end()) {
      unmatched_.push_back("parameter " + in_quotes(parameter.name) + " is missing, expected " +
                           to_string(parameter.shape));
      return fresh(node, parameter, random_);
    }
    found->second.is_taken = true;
    const Tensor& tensor = *found->second.tensor;
    if (!is_real(tensor.type()) || tensor.shape() != parameter.shape) {
      unmatched_.push_back("tensor " + in_quotes(found->second.name) + ": found " +
                           described(tensor) + ", expected real numbers " +
                           to_string(parameter.shape));
      return fresh(node, parameter, random_);
    }
    return Tensor::from<float>(parameter.shape, to_floats(tensor));
  }

  std::vector<std::string> finish() {
    for (const auto& [ours, found] : found_) {
      if (found.is_taken) continue;
      unmatched_.push_back("tensor " + in_quotes(found.name) + ": no parameter takes it");
    }
    return std::move(unmatched_);
  }

 private:
  struct Found {
    std::string name;  // in the file
    const Tensor* tensor;
    bool is_taken;
  };

  std::map<std::string, Found> found_;  // by our name
  std::vector<std::string> unmatched_;
  Random random_{1};
};

}  // namespace

void require_names(const NameMap& names, const SafetensorsFile& weights, const std::string& file) {
  std::set<std::string> known;
  for (const auto& [name, tensor] : weights.tensors) {
    known.insert(name);
    known.insert(name.substr(0, name.rfind('.')));
  }
  for (const auto& [name, ours] : names) {
    if (known.contains(name)) continue;
    fail(ErrorCode::usage, file, ": ", in_quotes(name), " is no tensor or layer of the weights",
         suggestion(name, std::vector<std::string>(known.begin(), known.end())));
  }
}

WeightsImport import_weights(Graph graph, const SafetensorsFile& weights, const NameMap& names,
                             bool is_partial, const std::string& file) {
  WeightsImport result;
  Matching matching(weights, names);
  for (const Node& node : graph.nodes) {
    for (const Parameter& parameter : parameters_of(node)) {
      result.model.tensors.emplace(parameter.name, matching.take(node, parameter));
    }
  }
  result.model.graph = std::move(graph);
  result.unmatched = matching.finish();
  if (!is_partial && !result.unmatched.empty()) {
    throw ImportRefused(file + ": weights and network differ (--partial takes what they share)",
                        std::move(result.unmatched));
  }
  return result;
}

}  // namespace winnow
