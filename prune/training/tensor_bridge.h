// Tensors between host memory and LibTorch.
#pragma once

#include <torch/types.h>

#include "runtime/model/tensor.h"

namespace winnow {

// A copy on `device`, row-major, of the same element type.
torch::Tensor to_torch(const Tensor& tensor, const torch::Device& device);

// A copy in host memory, row-major whatever the strides. Waits for the device.
// Throws Error{usage} for element types that Tensor does not know.
Tensor to_host(const torch::Tensor& tensor);

}  // namespace winnow
