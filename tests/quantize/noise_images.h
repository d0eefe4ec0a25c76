// Images of random pixels, all of class 0.
#pragma once

#include "runtime/base/random.h"
#include "runtime/images/image_set.h"
#include "runtime/model/shape.h"

namespace winnow {

// Of the shape [C, H, W]; the same ones each time.
inline ImageSet noise_images(std::int64_t count, const Shape& shape) {
  Random random(5);
  ImageSet images;
  images.count = count;
  images.channels = shape[0];
  images.height = shape[1];
  images.width = shape[2];
  images.pixels.resize(static_cast<std::size_t>(count * element_count(shape)));
  for (std::uint8_t& pixel : images.pixels) {
    pixel = static_cast<std::uint8_t>(random.uniform(0, 256));
  }
  images.labels.assign(static_cast<std::size_t>(count), 0);
  return images;
}

}  // namespace winnow
