// A checkpoint's parameters as PyTorch's classes of the network load them.
#pragma once

#include <string>

#include "runtime/model/model.h"
#include "runtime/model/safetensors.h"

namespace winnow {

// A state_dict: every parameter of the graph in fp32, weights decoded, masked ones 0, nothing
// folded or removed. Names are torchvision's for the built-in networks that it has, else those of
// the nodes. As torch has it, batch norms come with "num_batches_tracked" (0), and convolutions
// that have a bias in torchvision's class with one of zeros.
// Throws Error{bad_file} if the model does not pass check_model; `place` begins the message.
SafetensorsFile torch_weights(const Model& model, const std::string& place);

// What a class of PyTorch lacks in those weights: quantize folds batch norms, so that a built-in
// network has none left. Empty if nothing.
std::string torch_weights_notice(const Model& model);

}  // namespace winnow
