// Which steps a later one may compute on its way, so that one launch does both.
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "runtime/plan/program.h"

namespace winnow {

inline constexpr std::size_t kNoStep = std::numeric_limits<std::size_t>::max();

// What a step may be fused with.
struct StepFusions {
  std::size_t into = kNoStep;         // the step that may compute this one
  std::vector<std::size_t> computed;  // by input: the step that this one may compute, or kNoStep
};

// By step. A convolution may be computed by the addition of two values or the pooling that alone
// reads it; the former only without a relu between them. At most one input of a step may be taken
// so: an addition of two convolutions has the choice. A flattening may be computed by the linear
// layer that alone reads it: it reads the map where it lies.
std::vector<StepFusions> step_fusions(const Program& program);

}  // namespace winnow
