// Brings pictures to the size that a network takes, with the pixels that Pillow gives.
#pragma once

#include "runtime/base/picture_form.h"
#include "runtime/images/picture.h"

namespace winnow {

// All but `nearest` are antialiased: output pixel i is the mean of the inputs under the filter,
// which is centred at (i + 1/2) scale and stretched by max(scale, 1), scale = input / output size;
// weights outside the picture are dropped and the rest scaled to a sum of 1. Rows first, then
// columns, each in whole numbers: weights are multiples of 2^-22, and a pixel is rounded after each
// of the two passes. `nearest` takes the input pixel at (i + 1/2) scale. These are the pixels of
// Pillow up to version 12; from 13 on it begins with the columns where that is less work, which
// rounds otherwise.

// Scales `picture`, its aspect kept, to the smallest size that covers height x width, then cuts out
// the centre. For height = width = s the shorter side so becomes s. A picture of that size is
// returned as it is.
//
// Requires height, width >= 1.
Picture cover(const Picture& picture, std::int64_t height, std::int64_t width,
              Interpolation interpolation = Interpolation::bilinear);

// Resizes and crops as `form` says; `place` begins messages. With a remainder of an odd number of
// pixels the crop lies where torchvision's CenterCrop puts it.
// Throws Error{bad_file} if the picture is smaller than the crop or would exceed kMaxPicturePixels.
Picture formed(const Picture& picture, const PictureForm& form, const std::string& place);

}  // namespace winnow
