// How activations lie for the gathered convolution.
#pragma once

#include "runtime/gpu/layer/activation.h"

namespace winnow {

// Whether its kernels read and write this format, whatever the order of channels.
inline bool is_gathered(const ActivationFormat& format) {
  return format.layout == Layout::nchw32c8n && format.precision == Precision::f16 &&
         format.halo_h == 0 && format.halo_w == 0;
}

}  // namespace winnow
