// The stem convolution's kernel, lane by lane on the host, with the arithmetic of indices that the
// kernel uses.
#pragma once

#include <vector>

#include "runtime/gpu/stem/stem_conv.h"
#include "runtime/reference/operations.h"

namespace winnow {

// The output [N, K, E, F] of the layer, channel k from where the weights were packed to compute it:
// place[k]. Values that no lane has written are NaN; so is shared memory. Throws Error{internal}
// where a lane reads or writes out of bounds, or a value is written twice.
std::vector<float> emulate_stem(const StemProblem& problem, const StemWeights& weights,
                                const reference::Array& input, const Extents& out,
                                const std::vector<std::int32_t>& place);

}  // namespace winnow
