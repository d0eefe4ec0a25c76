// Masks made of the zeros that weights have.
#pragma once

#include "runtime/model/model.h"

namespace winnow {

// Gives each conv and linear layer a mask that drops the blocks of `vector` output channels in
// which all weights are 0, in place of the mask it has. Layers without such a block become dense.
// Weights are f32 ("n.weight"); they stay as they are. Throws std::out_of_range if one is missing.
void mask_zeros(Model& model, int vector);

}  // namespace winnow
