// Inputs that any network takes.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/model/model.h"

namespace winnow {

// Normally distributed numbers, or where the input is tokens, numbers of rows of the model's table.
// The same for the same seed.
//
//   shape  of the whole input, with the batch
std::vector<float> random_input(const DeployedModel& model, const Shape& shape, std::uint64_t seed);

}  // namespace winnow
