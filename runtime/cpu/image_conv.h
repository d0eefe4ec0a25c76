// Sparse convolution and linear layers of many images, lanes being images.
#pragma once

#include <memory>

#include "runtime/cpu/layer.h"

namespace winnow {

// Family "direct", layout images<lanes> in and out. Loads are aligned and full however small the
// plane, and taps that lie in the padding are left out of the lists of border points instead of
// being multiplied by zero.
std::unique_ptr<CpuLayer> make_image_conv(const ConvWork& work, const MicroKernels& kernels,
                                          int threads);

}  // namespace winnow
