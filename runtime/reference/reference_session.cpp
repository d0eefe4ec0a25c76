#include "runtime/reference/reference_session.h"

#include <algorithm>
#include <utility>

#include "runtime/base/error.h"
#include "runtime/base/wall_clock.h"
#include "runtime/plan/describe.h"
#include "runtime/plan/step_weights.h"

namespace winnow {
namespace {

using reference::Array;

class ReferenceSession final : public Session {
 public:
  ReferenceSession(const DeployedModel& model, const SessionOptions& options)
      : program_(build_program(model, options.batch)), values_(program_.values.size()) {
    for (const Step& step : program_.steps) {
      const StepWeights weights = weights_of(model, step);
      weights_.push_back(dense_floats(weights.weight));
      biases_.push_back(dense_floats(weights.bias));
      layers_.push_back(describe_step(model, program_, step));
      layers_.back().family = "reference";
      layers_.back().kernel = "plain loops, fp64";
    }
    for (std::size_t v = 0; v < values_.size(); ++v) values_[v].shape = program_.values[v].shape;
    Array& input = values_[program_.input];
    input.values.assign(static_cast<std::size_t>(element_count(input.shape)), 0.0f);
  }

  std::string device() const override { return "reference (cpu, 1 thread)"; }
  std::vector<LayerPlan> layers() const override { return layers_; }

  void run(std::span<const float> input, std::span<float> output) override {
    const Shape& shape = program_.values[program_.output].shape;
    if (output.size() != static_cast<std::size_t>(element_count(shape))) {
      fail(ErrorCode::usage, "run: output of ", output.size(), " floats, expected ",
           element_count(shape));
    }
    set_input(input);
    for (std::size_t i = 0; i < program_.steps.size(); ++i) run_step(i);
    const std::vector<float>& result = values_[program_.output].values;
    std::copy(result.begin(), result.end(), output.begin());
  }

  void set_input(std::span<const float> input) override {
    std::vector<float>& values = values_[program_.input].values;
    if (input.size() != values.size()) {
      fail(ErrorCode::usage, "run: input of ", input.size(), " floats, expected ", values.size());
    }
    values.assign(input.begin(), input.end());
  }

  std::vector<double> time_network(int warm_up, int repeats) override {
    return timed(warm_up, repeats, [&] {
      for (std::size_t i = 0; i < program_.steps.size(); ++i) run_step(i);
    });
  }

  std::vector<std::vector<double>> time_layers(int warm_up, int repeats) override {
    std::vector<std::vector<double>> times;
    for (std::size_t i = 0; i < program_.steps.size(); ++i) {
      times.push_back(timed(warm_up, repeats, [&] { run_step(i); }));
    }
    return times;
  }

  std::vector<std::vector<float>> step_outputs() override {
    std::vector<std::vector<float>> outputs;
    for (const Step& step : program_.steps) outputs.push_back(values_[step.output].values);
    return outputs;
  }

 private:
  void run_step(std::size_t index) {
    const Step& step = program_.steps[index];
    std::vector<const Array*> inputs;
    for (const std::size_t value : step.inputs) inputs.push_back(&values_[value]);
    values_[step.output] = reference::run_step(step, inputs, weights_[index], biases_[index]);
  }

  template <typename Work>
  static std::vector<double> timed(int warm_up, int repeats, Work work) {
    std::vector<double> times;
    for (int i = -warm_up; i < repeats; ++i) {
      const double ms = run_ms(work);
      if (i >= 0) times.push_back(ms);
    }
    return times;
  }

  Program program_;
  std::vector<Array> values_;
  std::vector<std::vector<float>> weights_;  // by step
  std::vector<std::vector<float>> biases_;
  std::vector<LayerPlan> layers_;
};

}  // namespace

std::unique_ptr<Session> make_reference_session(const DeployedModel& model,
                                                const SessionOptions& options) {
  return std::make_unique<ReferenceSession>(model, options);
}

}  // namespace winnow
