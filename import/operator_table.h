// The operators of ONNX that have a counterpart in Winnow's graphs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "import/onnx_call.h"

namespace winnow {

struct OnnxOperator {
  std::string op;
  OnnxValue (*translate)(const OnnxCall&);  // throws Error, whose message tells why not
  std::vector<std::string> attributes;      // that it knows
  std::size_t least_inputs = 1;
  std::size_t most_inputs = 1;
};

const std::vector<OnnxOperator>& layer_operators();  // layers with weights, activations, joins
const std::vector<OnnxOperator>& pool_operators();
const std::vector<OnnxOperator>& shape_operators();  // constants, shapes, what only moves values

const OnnxOperator* find_onnx_operator(std::string_view op);
std::vector<std::string> onnx_operator_names();

// `value` with another shape of its samples. Flattening takes a node of the network; leading to or
// from pooled positions of size 1 takes none. Refuses everything else.
OnnxValue reshaped(const OnnxCall& call, const OnnxValue& value, const Shape& shape);

}  // namespace winnow
