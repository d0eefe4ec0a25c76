// Deployed linear layers in the form that runtime/sparse takes. Pure host code.
#pragma once

#include <span>
#include <vector>

#include "runtime/plan/block_csr.h"
#include "runtime/sparse/sparse_layer.h"

namespace winnow {

// The weight [out, in] without zeros, output by output. Requires out = bias.size().
// Throws Error{usage} if in or the number of weights does not fit 32 bits.
SparseLayer sparse_layer(const BlockCsr& weight, std::span<const float> bias);

}  // namespace winnow
