// Stacks of sparse linear layers in a program: consecutive ones, which one launch may compute.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/model/model.h"
#include "runtime/plan/program.h"

namespace winnow {

// Steps of which each reads what the one before wrote, and nobody else does.
struct LinearStack {
  std::vector<std::size_t> steps;  // at least one
  double density = 0;              // of all weights: those that are left
};

// Whether the step is a linear layer with a sparse weight on [N, F] values.
bool is_sparse_linear(const Program& program, const DeployedModel& model, const Step& step);

// All stacks, as long as they can be, of linear layers with sparse weights on [N, F] values of at
// most `most_features` features. A layer is in one stack at most.
std::vector<LinearStack> linear_stacks(const Program& program, const DeployedModel& model,
                                       std::int64_t most_features);

}  // namespace winnow
