// Networks with every kind of step, deployed with random masks.
#pragma once

#include "runtime/base/random.h"
#include "runtime/model/model.h"

namespace winnow {

// Two-dimensional: convolutions with a residual add and a concat, pools, a grouped and a strided
// convolution, a linear head. The masked layers' blocks have `vector` channels; one of them has a
// codebook with channel scales.
DeployedModel image_network(Random& random, int vector);

// Convolutions each followed by a max pooling of 2 x 2, on planes of odd sides.
DeployedModel pooled_network(Random& random, int vector);

// Tokens -> embedding -> conv1d of two widths -> global pool -> concat -> linear -> softmax.
DeployedModel text_network(Random& random);

}  // namespace winnow
