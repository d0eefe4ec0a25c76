// Sparse linear layers of few images with columns of every output's own.
#pragma once

#include <memory>

#include "runtime/cpu/layer.h"

namespace winnow {

// Family "direct", nchw in and out. Lanes are output channels; each gathers its own input.
std::unique_ptr<CpuLayer> make_gather_linear(const ConvWork& work, const MicroKernels& kernels,
                                             int threads);

// Whether `work` is a linear layer.
bool gather_linear_fits(const ConvWork& work);

}  // namespace winnow
