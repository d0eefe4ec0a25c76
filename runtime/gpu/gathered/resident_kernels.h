// The compiled kernels of the gathered convolution with a resident input.
#pragma once

#include "runtime/gpu/gathered/resident_arguments.h"

namespace winnow {

using ResidentConvKernel = void (*)(ResidentArguments);

// The kernel for this form of strips, of maps that are no points, or of points; null if there is
// none.
ResidentConvKernel resident_strip_kernel(const ResidentConvForm& form);
ResidentConvKernel resident_map_kernel(const ResidentConvForm& form);
ResidentConvKernel resident_point_kernel(const ResidentConvForm& form);

}  // namespace winnow
