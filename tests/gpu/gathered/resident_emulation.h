// The kernel of the gathered convolution with a resident input, lane by lane on the host, with the
// arithmetic of indices that the kernel uses.
#pragma once

#include <vector>

#include "runtime/gpu/gathered/resident_weights.h"
#include "runtime/gpu/gathered/ring_arguments.h"
#include "runtime/reference/operations.h"

namespace winnow {

struct EmulatedLayer {
  Conv conv;
  ResidentTile tile;
  bool has_relu = false;
  RingPool pool = RingPool::none;
};

// The output of the layer. Input channel c lies at input_place[c], output channel k at
// output_place[k]. `addend` may be empty; else it is as the convolution's output.
// What nothing has written is NaN, in shared memory too. Throws Error{internal} where a lane reads
// outside of shared memory or what may not have arrived yet.
std::vector<float> emulate_resident(const EmulatedLayer& layer, const ResidentConvWeights& weights,
                                    const std::vector<float>& bias, const reference::Array& input,
                                    const std::vector<std::int32_t>& input_place,
                                    const std::vector<std::int32_t>& output_place,
                                    const std::vector<float>& addend, const Extents& out);

}  // namespace winnow
