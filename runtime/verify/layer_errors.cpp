#include "runtime/verify/layer_errors.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "runtime/plan/program.h"
#include "runtime/plan/step_weights.h"
#include "runtime/reference/reference_session.h"

namespace winnow {
namespace {

using reference::Array;

void compare(const std::vector<float>& found, const std::vector<float>& expected,
             LayerError& error) {
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double d = static_cast<double>(found[i]) - static_cast<double>(expected[i]);
    error.is_finite = error.is_finite && std::isfinite(found[i]);
    error.largest = std::max(error.largest, std::abs(d));
    difference += d * d;
    norm += static_cast<double>(expected[i]) * static_cast<double>(expected[i]);
  }
  error.relative = std::sqrt(difference) / std::max(std::sqrt(norm), 1e-30);
}

Array reference_output(const DeployedModel& model, const Step& step,
                       const std::vector<Array>& values) {
  std::vector<const Array*> inputs;
  for (const std::size_t input : step.inputs) inputs.push_back(&values[input]);
  const StepWeights weights = weights_of(model, step);
  return reference::run_step(step, inputs, dense_floats(weights.weight),
                             dense_floats(weights.bias));
}

}  // namespace

bool LayerError::is_within(double tolerance) const {
  return !is_compared() || (is_finite && relative <= tolerance * std::sqrt(layers));
}

std::vector<LayerError> layer_errors(const DeployedModel& model, Session& session,
                                     std::int64_t batch, std::span<const float> input,
                                     const std::function<void(std::size_t)>& progress) {
  const Program program = build_program(model, batch);
  std::vector<Array> values(program.values.size());
  for (std::size_t v = 0; v < values.size(); ++v) values[v].shape = program.values[v].shape;
  values[program.input].values.assign(input.begin(), input.end());
  std::vector<float> output(
      static_cast<std::size_t>(element_count(program.values[program.output].shape)));
  session.run(input, output);

  std::vector<std::vector<float>> outputs = session.step_outputs();
  const std::vector<LayerPlan> plans = session.layers();
  std::vector<LayerError> errors;
  std::vector<int> pending(values.size(), 0);  // layers behind a value that the session has not
  for (std::size_t s = 0; s < program.steps.size(); ++s) {
    const Step& step = program.steps[s];
    Array expected = reference_output(model, step, values);
    LayerError error{plans[s]};
    int layers = 1;
    for (const std::size_t value : step.inputs) layers = std::max(layers, 1 + pending[value]);
    if (outputs[s].empty()) {
      error.layers = 0;
      pending[step.output] = layers;
      values[step.output].values = std::move(expected.values);
    } else {
      error.layers = layers;
      compare(outputs[s], expected.values, error);
      values[step.output].values = std::move(outputs[s]);
    }
    errors.push_back(std::move(error));
    progress(s + 1);
  }
  return errors;
}

}  // namespace winnow
