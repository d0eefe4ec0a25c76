#include "runtime/plan/execution_plan.h"

#include <algorithm>
#include <utility>

namespace winnow {
namespace {

class Planner {
 public:
  Planner(const Program& program, const SameMemory& is_same_memory)
      : program_(program), is_same_memory_(is_same_memory) {
    execution_.step_outputs.resize(program.steps.size());
    execution_.input = buffer_of(program.input, 0);
  }

  void add(const Conversion& conversion) {
    const std::size_t from = use(conversion.value, conversion.from);
    const std::size_t to = use(conversion.value, conversion.to);
    if (is_same_memory_(conversion.value, conversion.from, conversion.to)) {
      execution_.buffers[to].alias_of = from;
      return;
    }
    const std::size_t last_step = program_.steps.empty() ? 0 : program_.steps.size() - 1;
    const std::size_t step = std::min(conversion.before_step, last_step);
    execution_.operations.push_back({true, {from}, to, step});
  }

  void add(std::size_t index, const ChosenStep& chosen) {
    const Step& step = program_.steps[index];
    PlannedOperation operation{false, {}, 0, index};
    for (std::size_t i = 0; i < step.inputs.size(); ++i) {
      operation.in.push_back(use(step.inputs[i], chosen.reads[i]));
    }
    operation.out = use(step.output, chosen.writes);
    execution_.step_outputs[index] = operation.out;
    if (chosen.has_kernel) {
      execution_.operations.push_back(std::move(operation));
    } else {
      execution_.buffers[operation.out].alias_of = operation.in[0];
    }
  }

  ExecutionPlan finish() {
    execution_.output = use(program_.output, 0);
    return std::move(execution_);
  }

 private:
  std::size_t buffer_of(std::size_t value, std::size_t format) {
    std::vector<PlannedBuffer>& buffers = execution_.buffers;
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      if (buffers[i].value == value && buffers[i].format == format) return i;
    }
    const std::size_t now = execution_.operations.size();
    buffers.push_back({value, format, buffers.size(), now, now});
    return buffers.size() - 1;
  }

  // Marks the buffer as used by the next operation.
  std::size_t use(std::size_t value, std::size_t format) {
    const std::size_t buffer = buffer_of(value, format);
    execution_.buffers[memory_of(execution_, buffer)].last_operation = execution_.operations.size();
    return buffer;
  }

  const Program& program_;
  const SameMemory& is_same_memory_;
  ExecutionPlan execution_;
};

}  // namespace

ExecutionPlan make_execution_plan(const Program& program, std::span<const ChosenStep> steps,
                                  std::span<const Conversion> conversions,
                                  const SameMemory& is_same_memory) {
  Planner planner(program, is_same_memory);
  auto conversion = conversions.begin();
  for (std::size_t i = 0; i <= program.steps.size(); ++i) {
    for (; conversion != conversions.end() && conversion->before_step == i; ++conversion) {
      planner.add(*conversion);
    }
    if (i < program.steps.size()) planner.add(i, steps[i]);
  }
  return planner.finish();
}

std::size_t memory_of(const ExecutionPlan& plan, std::size_t buffer) {
  while (plan.buffers[buffer].alias_of != buffer) buffer = plan.buffers[buffer].alias_of;
  return buffer;
}

}  // namespace winnow
