// A deployed graph as a list of steps over numbered values: what every backend executes.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "runtime/model/model.h"

namespace winnow {

// One activation tensor, batch dimension included.
struct Value {
  std::string name;  // the node that produces it (the last one of a fused step)
  Shape shape;       // [N, C, H, W], [N, C, L], [N, F] or [N, L]
};

// One node, with what was fused into it.
struct Step {
  std::string name;  // of the node that gives `op`
  Op op;
  std::vector<std::size_t> inputs;  // indices into Program::values
  std::size_t output = 0;
  bool has_relu = false;    // a relu that was the node's only reader is applied to the output
  std::string weight = "";  // its parameters in DeployedModel::weights; empty where it has none
  std::string bias = "";
};

// Whether it is a convolution or linear layer.
inline bool is_weighted(const Step& step) {
  return std::holds_alternative<Conv>(step.op) || std::holds_alternative<Linear>(step.op);
}

// Steps in execution order. Input nodes and dropouts are no steps.
struct Program {
  std::int64_t batch = 1;
  std::vector<Value> values;
  std::vector<Step> steps;
  std::size_t input = 0;
  std::size_t output = 0;
};

// Fuses a relu without upper bound into the conv, linear or add before it where nothing else reads
// that value. Throws
// Error{bad_file} as check_deployed_model does, Error{usage} for a batch that is too large.
Program build_program(const DeployedModel& model, std::int64_t batch);

// The same of a graph whose weights are not known yet. Throws Error{usage} as infer_shapes does.
Program build_program(const Graph& graph, std::int64_t batch);

// The step as a convolution: also a linear layer on [N, F] values, of single pixels. Nothing for
// other steps.
std::optional<Conv> as_conv(const Program& program, const Step& step);

// By value: how many inputs of steps it is; the caller reads the output too.
std::vector<std::size_t> reader_counts(const Program& program);

}  // namespace winnow
