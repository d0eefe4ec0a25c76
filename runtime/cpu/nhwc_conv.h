// Convolution and linear layers in nhwc, lanes being output channels: vector masks and dense
// weights.
#pragma once

#include <memory>

#include "runtime/cpu/layer.h"

namespace winnow {

// Family "direct", nhwc in and out (of linear layers the same as nchw). One input times a vector of
// weights, so even the smallest plane of one image fills all lanes.
// Requires blocks whose vector is a multiple of the kernels' lanes and does not straddle groups.
std::unique_ptr<CpuLayer> make_nhwc_conv(const ConvWork& work, const MicroKernels& kernels,
                                         int threads);

// Whether `work` meets the requirement.
bool nhwc_conv_fits(const ConvWork& work, const MicroKernels& kernels);

}  // namespace winnow
