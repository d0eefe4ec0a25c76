// Conversion between layouts and element types.
#pragma once

#include <cuda_runtime_api.h>

#include "runtime/gpu/layer/activation.h"

namespace winnow {

// Copies every element of `from` to `to`, of equal size, in any two formats; floats that become
// half are rounded to nearest. Leaves halos as they are.
//
// Throws Error{usage} if the sizes differ, Error{device} if the launch is refused.
void convert(const ActivationView& from, const ActivationView& to, cudaStream_t stream);

// The same for slices of channels of equal count: what a concatenation is made of.
void convert_slice(const ChannelSlice& from, const ChannelSlice& to, cudaStream_t stream);

}  // namespace winnow
