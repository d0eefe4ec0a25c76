#include "quantize/stepwise_network.h"

#include <algorithm>
#include <utility>

#include "runtime/reference/reference_session.h"

namespace winnow {
namespace {

using reference::Array;

// Of the inputs and outputs of all sessions together.
constexpr std::int64_t kMostSessionFloats = std::int64_t{1} << 28;  // 1 GiB

bool runs_in_plain_loops(const Op& op) {
  return std::holds_alternative<Add>(op) || std::holds_alternative<Concat>(op) ||
         std::holds_alternative<Flatten>(op);
}

// `most` samples, halved until all sessions fit.
std::int64_t session_batch(const Program& of_one_sample, std::int64_t most) {
  const auto size = [&](std::size_t value) {
    return element_count(of_one_sample.values[value].shape);
  };
  std::int64_t floats = 0;
  for (const Step& step : of_one_sample.steps) {
    if (!runs_in_plain_loops(step.op)) floats += size(step.inputs[0]) + size(step.output);
  }
  while (most > 1 && most * floats > kMostSessionFloats) most /= 2;
  return most;
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

StepwiseNetwork::StepwiseNetwork(const DeployedModel& model, Device device, SessionOptions options)
    : graph_(model.graph) {
  const Program program = build_program(model, 1);
  const auto planned = std::exchange(options.progress, nullptr);
  options.batch = session_batch(program, options.batch);
  for (const Step& step : program.steps) {
    engines_.emplace_back();
    if (!runs_in_plain_loops(step.op)) {
      const Shape& input = program.values[step.inputs[0]].shape;
      engines_.back().emplace(model_of(model, step, input), device, options);
    }
    if (planned) planned(engines_.size(), program.steps.size());
  }
}

std::vector<float> StepwiseNetwork::step_values(std::size_t index, const Step& step,
                                                const std::vector<Array>& values) {
  std::vector<const Array*> inputs;
  for (const std::size_t value : step.inputs) inputs.push_back(&values[value]);
  if (!engines_[index]) return reference::run_step(step, inputs, {}, {}).values;
  Engine& engine = *engines_[index];
  const std::int64_t samples = inputs.front()->shape.front();
  std::vector<float> output(static_cast<std::size_t>(samples * engine.output_size()));
  engine.run(inputs.front()->values, output);
  return output;
}

std::vector<float> StepwiseNetwork::run(std::int64_t samples, std::vector<float> input,
                                        const Visit& visit) {
  const Program program = build_program(graph_, samples);
  std::vector<Array> values(program.values.size());
  const auto take = [&](std::size_t value, std::vector<float> floats) {
    values[value] = {program.values[value].shape, std::move(floats)};
    visit(program.values[value].name, values[value].values);
  };
  take(program.input, std::move(input));
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const Step& step = program.steps[i];
    take(step.output, step_values(i, step, values));
    drop_unread(program, i, values);
  }
  return std::move(values[program.output].values);
}

}  // namespace winnow
