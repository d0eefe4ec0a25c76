// A network that says of images of one pixel whether they are bright.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "runtime/images/image_set.h"
#include "tests/model/graphs.h"

namespace winnow {

// Two outputs: the pixel's value and 0.5.
inline Model one_pixel_model() {
  Model model;
  model.graph = graph_of({1, 1, 1}, {{"flatten", Flatten{}, {}}, {"linear", Linear{1, 2}, {}}});
  const std::vector<float> weight = {1, 0}, bias = {0, 0.5f};
  model.tensors["linear.weight"] = Tensor::from<float>({2, 1}, weight);
  model.tensors["linear.bias"] = Tensor::from<float>({2}, bias);
  return model;
}

// Pixels are value / 255; label 0 says "above one half".
inline ImageSet pixels(std::vector<std::uint8_t> values, std::vector<std::int32_t> labels) {
  ImageSet images;
  images.count = static_cast<std::int64_t>(values.size());
  images.channels = images.height = images.width = 1;
  images.pixels = std::move(values);
  images.labels = std::move(labels);
  images.classes = {"bright", "dark"};
  return images;
}

}  // namespace winnow
