#include "runtime/plan/linear_stacks.h"

#include <algorithm>
#include <variant>

#include "runtime/plan/step_weights.h"

namespace winnow {
namespace {

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

bool fits(const Program& program, const Step& step, std::int64_t most_features) {
  return program.values[step.inputs[0]].shape[1] <= most_features &&
         program.values[step.output].shape[1] <= most_features;
}

double density_of(const LinearStack& stack, const Program& program, const DeployedModel& model) {
  double kept = 0, all = 0;
  for (const std::size_t step : stack.steps) {
    const CsrWeight& weight = *weights_of(model, program.steps[step]).sparse();
    kept += static_cast<double>(nonzero_count(weight));
    all += static_cast<double>(weight.channels * weight.cols);
  }
  return all > 0 ? kept / all : 0;
}

}  // namespace

bool is_sparse_linear(const Program& program, const DeployedModel& model, const Step& step) {
  if (!std::holds_alternative<Linear>(step.op)) return false;
  return weights_of(model, step).sparse() != nullptr &&
         program.values[step.inputs[0]].shape.size() == 2;
}

std::vector<LinearStack> linear_stacks(const Program& program, const DeployedModel& model,
                                       std::int64_t most_features) {
  const std::vector<std::size_t> readers = reader_counts(program);
  std::vector<std::size_t> stack_of(program.values.size(), kNone);  // whose last value it is
  std::vector<LinearStack> stacks;
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const Step& step = program.steps[i];
    if (!is_sparse_linear(program, model, step) || !fits(program, step, most_features)) continue;
    const std::size_t input = step.inputs[0];
    std::size_t stack = readers[input] == 1 ? stack_of[input] : kNone;
    if (stack == kNone) {
      stack = stacks.size();
      stacks.emplace_back();
    }
    stacks[stack].steps.push_back(i);
    stack_of[step.output] = stack;
  }
  for (LinearStack& stack : stacks) stack.density = density_of(stack, program, model);
  return stacks;
}

}  // namespace winnow
