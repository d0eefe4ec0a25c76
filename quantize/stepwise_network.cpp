#include "quantize/stepwise_network.h"

#include <algorithm>
#include <utility>

#include "runtime/base/error.h"
#include "runtime/engine.h"
#include "runtime/plan/program.h"
#include "runtime/reference/reference_session.h"

namespace winnow {
namespace {

using reference::Array;

// Samples that a step's session takes at a time: enough to keep a processor busy, few enough that
// its memory does not count beside the values of all samples.
constexpr std::int64_t kSessionBatch = 32;

bool runs_in_plain_loops(const Op& op) {
  return std::holds_alternative<Add>(op) || std::holds_alternative<Concat>(op) ||
         std::holds_alternative<Flatten>(op);
}

// The step as a network of its own, which reads samples of `input`, batch dimension aside.
DeployedModel model_of(const DeployedModel& model, const Step& step, const Shape& input) {
  DeployedModel alone;
  const std::string source = step.name + ".input";
  const bool is_tokens = std::holds_alternative<Embedding>(step.op);
  alone.graph.name = step.name;
  alone.graph.nodes = {{source, Input{{input.begin() + 1, input.end()}, is_tokens}, {}},
                       {step.name, step.op, {source}}};
  if (step.has_relu) alone.graph.nodes.push_back({step.name + ".relu", Relu{}, {step.name}});
  for (const std::string& parameter : {step.weight, step.bias}) {
    if (!parameter.empty()) alone.weights[parameter] = model.weights.at(parameter);
  }
  return alone;
}

// What runs sparse is a rule and not a matter of times, so that runs on one machine agree.
SessionOptions session_options(std::int64_t samples) {
  SessionOptions options;
  options.batch = std::min(samples, kSessionBatch);
  options.choice = KernelChoice::sparse;
  return options;
}

// Frees the values that no step after `done` reads.
void drop_unread(const Program& program, std::size_t done, std::vector<Array>& values) {
  for (const std::size_t value : program.steps[done].inputs) {
    const auto later = program.steps.begin() + static_cast<std::ptrdiff_t>(done) + 1;
    const bool is_read = std::any_of(later, program.steps.end(), [&](const Step& step) {
      return std::find(step.inputs.begin(), step.inputs.end(), value) != step.inputs.end();
    });
    if (!is_read) values[value].values = {};
  }
}

}  // namespace

StepwiseNetwork::StepwiseNetwork(const DeployedModel& model, Device device)
    : graph_(model.graph), device_(resolve(device)) {
  const Program program = build_program(model, 1);
  for (const Step& step : program.steps) {
    models_.emplace_back();
    if (runs_in_plain_loops(step.op)) continue;
    models_.back() = model_of(model, step, program.values[step.inputs[0]].shape);
  }
}

std::string StepwiseNetwork::device() const {
  for (const auto& model : models_) {
    if (model) return make_session(*model, device_, session_options(1))->device();
  }
  fail(ErrorCode::usage, graph_.name, ": no step that a device runs");
}

Array StepwiseNetwork::step_value(std::size_t index, const Step& step,
                                  const std::vector<Array>& values) const {
  std::vector<const Array*> inputs;
  for (const std::size_t value : step.inputs) inputs.push_back(&values[value]);
  if (!models_[index]) return reference::run_step(step, inputs, {}, {});
  const Array& input = *inputs.front();
  Engine engine(*models_[index], device_, session_options(input.shape.front()));
  Array output;
  output.values.resize(static_cast<std::size_t>(input.shape.front() * engine.output_size()));
  engine.run(input.values, output.values);
  return output;
}

std::vector<float> StepwiseNetwork::run(std::int64_t samples, std::vector<float> input,
                                        const Visit& visit) const {
  const Program program = build_program(graph_, samples);
  std::vector<Array> values(program.values.size());
  const auto take = [&](std::size_t value, std::vector<float> floats) {
    values[value] = {program.values[value].shape, std::move(floats)};
    visit(program.values[value].name, values[value].values);
  };
  take(program.input, std::move(input));
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const Step& step = program.steps[i];
    take(step.output, step_value(i, step, values).values);
    drop_unread(program, i, values);
  }
  return std::move(values[program.output].values);
}

}  // namespace winnow
