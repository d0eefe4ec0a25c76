// Constants that ONNX spreads over a value. For the sources of this folder only.
#pragma once

#include <vector>

#include "import/onnx_call.h"

namespace winnow {

// Input `i`, a constant, as one number for each channel of a value whose samples have the shape
// `shape`. Refuses constants that differ along other dimensions or enlarge the value.
std::vector<float> channel_constant(const OnnxCall& call, std::size_t i, const Shape& shape);

}  // namespace winnow
