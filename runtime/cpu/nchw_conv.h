// Sparse convolution of few images, lanes being neighbours in a plane.
#pragma once

#include <memory>

#include "runtime/cpu/layer.h"

namespace winnow {

// Family "direct", nchw in and out. Vectors run over the rows of the padded plane as over one
// long row; what falls between two rows is computed and dropped.
std::unique_ptr<CpuLayer> make_nchw_conv(const ConvWork& work, const MicroKernels& kernels,
                                         int threads);

}  // namespace winnow
