// What a network gives for images by the reference operations, rounded as it says.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "quantize/fixed_point.h"
#include "runtime/images/image_set.h"
#include "tests/quantize/random_networks.h"

namespace winnow {

// Of a model without preprocessing: a pixel is byte / 255.
inline std::vector<float> by_plain_loops(const Model& model, const ImageSet& images) {
  reference::Array input{infer_shapes(model.graph, images.count)[0], {}};
  for (const std::uint8_t byte : images.pixels) input.values.push_back(byte / 255.0f);
  return evaluate(model, input, [&](const std::string& node, std::span<float> values) {
    const auto frac = model.activation_frac.find(node);
    if (frac != model.activation_frac.end())
      round_to({model.activation_bits, frac->second}, values);
  });
}

}  // namespace winnow
