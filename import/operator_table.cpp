#include "import/operator_table.h"

namespace winnow {

const OnnxOperator* find_onnx_operator(std::string_view op) {
  for (const auto* table : {&layer_operators(), &pool_operators(), &shape_operators()}) {
    for (const OnnxOperator& known : *table) {
      if (known.op == op) return &known;
    }
  }
  return nullptr;
}

std::vector<std::string> onnx_operator_names() {
  std::vector<std::string> names;
  for (const auto* table : {&layer_operators(), &pool_operators(), &shape_operators()}) {
    for (const OnnxOperator& known : *table) names.push_back(known.op);
  }
  return names;
}

}  // namespace winnow
