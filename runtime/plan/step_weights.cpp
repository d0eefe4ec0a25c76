#include "runtime/plan/step_weights.h"

namespace winnow {

StepWeights weights_of(const DeployedModel& model, const Step& step) {
  const auto find = [&](const std::string& name) {
    const auto found = model.weights.find(name);
    return found == model.weights.end() ? nullptr : &found->second;
  };
  return {find(step.weight), find(step.bias)};
}

std::vector<float> dense_floats(const Weight* weight) {
  return weight == nullptr ? std::vector<float>() : dense_floats(*weight);
}

}  // namespace winnow
