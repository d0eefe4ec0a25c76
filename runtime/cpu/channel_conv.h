// Convolution and linear layers with lanes being output channels: vector masks and dense weights.
#pragma once

#include <memory>

#include "runtime/cpu/layer.h"

namespace winnow {

// Pixels in and out (planar for linear layers, which is the same). One input times a vector of
// weights, so even the smallest plane of one image fills all lanes. Family "direct".
// Requires blocks whose vector is a multiple of the kernels' lanes and does not straddle groups.
std::unique_ptr<CpuLayer> make_channel_conv(const ConvWork& work, const MicroKernels& kernels,
                                            int threads);

// Whether `work` meets the requirement.
bool channel_conv_fits(const ConvWork& work, const MicroKernels& kernels);

}  // namespace winnow
