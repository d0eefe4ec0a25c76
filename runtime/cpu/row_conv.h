// Dense convolution of few input channels, as a network's first: rows of outputs, whole weights.
#pragma once

#include <memory>

#include "runtime/cpu/layer.h"

namespace winnow {

// Whether make_row_conv() can run the work on this machine: AVX-512, no groups, a horizontal stride
// of 1 or 2, and weights and rows that fit the first caches.
bool row_conv_fits(const ConvWork& work);

// Family "dense", to nchw with gaps from there or, with `reads_plain`, from nchw without. The input
// is copied with its padding, columns and rows apart by what is left of a division by the stride.
std::unique_ptr<CpuLayer> make_row_conv(const ConvWork& work, bool reads_plain);

}  // namespace winnow
