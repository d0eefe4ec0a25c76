// Sparse convolution and linear layers of many images, lanes being images.
#pragma once

#include <memory>

#include "runtime/cpu/layer.h"

namespace winnow {

// Family "direct", chwnN in and out, N being the kernels' lanes. Loads are aligned and full however
// small the plane, and taps that lie in the padding are left out of the lists of border points
// instead of being multiplied by zero.
std::unique_ptr<CpuLayer> make_chwn_conv(const ConvWork& work, const MicroKernels& kernels,
                                         int threads);

}  // namespace winnow
