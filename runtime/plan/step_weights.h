// The weights of a step in its model.
#pragma once

#include <vector>

#include "runtime/model/model.h"
#include "runtime/plan/program.h"

namespace winnow {

// Views into the model, null where the step has none.
struct StepWeights {
  const Weight* weight = nullptr;
  const Weight* bias = nullptr;

  // The weight if it is stored sparse, else null.
  const CsrWeight* sparse() const { return weight ? std::get_if<CsrWeight>(weight) : nullptr; }
};

StepWeights weights_of(const DeployedModel& model, const Step& step);

// As dense_floats of model.h; empty for null.
std::vector<float> dense_floats(const Weight* weight);

}  // namespace winnow
