// ONNX's Conv. For the sources of this folder only.
#pragma once

#include "import/onnx_call.h"

namespace winnow {

// Padding that differs before and behind is made equal by zeros that enlarge the kernel. A 1 x 1
// convolution of pooled values is a linear layer.
OnnxValue convolution(const OnnxCall& call);

}  // namespace winnow
