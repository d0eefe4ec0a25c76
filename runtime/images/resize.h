// Brings pictures to the size that a network takes.
#pragma once

#include "runtime/images/picture.h"

namespace winnow {

// Scales `picture`, its aspect kept, to the smallest size that covers height x width, then cuts out
// the centre. For height = width = s the shorter side so becomes s. A picture of that size is
// returned as it is.
//
// Bilinear with antialiasing: output pixel i is the mean of the inputs under a triangle centred at
// (i + 1/2) scale that reaches max(scale, 1) inputs to either side, scale = input / output size;
// weights outside the picture are dropped and the rest scaled to a sum of 1. Rows and columns one
// after the other, in float, rounded once at the end.
//
// Requires height, width >= 1.
Picture cover(const Picture& picture, std::int64_t height, std::int64_t width);

}  // namespace winnow
