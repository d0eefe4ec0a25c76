// Synthetic images that a small network can learn.
#pragma once

#include <cstdint>

#include "prune/data/data_set.h"
#include "runtime/base/random.h"

namespace winnow {

// `count` noisy 8 x 8 images with one channel; class c has a bright row c. Four classes.
inline ImageSet striped_images(std::int64_t count, std::uint64_t seed) {
  ImageSet images;
  images.count = count;
  images.channels = 1;
  images.height = images.width = 8;
  images.classes = {"a", "b", "c", "d"};
  Random random(seed);
  for (std::int64_t i = 0; i < count; ++i) {
    const auto label = static_cast<std::int32_t>(i % 4);
    images.labels.push_back(label);
    for (std::int64_t pixel = 0; pixel < 64; ++pixel) {
      const std::uint64_t bright = pixel / 8 == 2 * label ? 100 : 0;
      images.pixels.push_back(static_cast<std::uint8_t>(random.below(156) + bright));
    }
  }
  return images;
}

inline DataSet striped_data() {
  DataSet data;
  data.train = striped_images(256, 1);
  data.validation = striped_images(64, 2);
  data.test = striped_images(64, 3);
  data.preprocessing = {.mean = {0.3f}, .deviation = {0.2f}};
  return data;
}

}  // namespace winnow
