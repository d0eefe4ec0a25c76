#include "runtime/challenge/engines/tiled/device_layer.h"

#include <algorithm>

namespace winnow::challenge {

DeviceLayer::DeviceLayer(const SparseLayer& layer)
    : inputs_(layer.inputs),
      row_begin_(winnow::upload(layer.row_begin)),
      input_(winnow::upload(layer.input)),
      value_(winnow::upload(layer.value)),
      bias_(winnow::upload(layer.bias)) {}

LayerView DeviceLayer::view() const {
  return {.inputs = inputs_,
          .outputs = outputs(),
          .row_begin = row_begin_.get(),
          .input = input_.get(),
          .value = value_.get(),
          .bias = bias_.get()};
}

std::vector<DeviceLayer> upload_layers(const Network& network) {
  std::vector<DeviceLayer> layers;
  layers.reserve(network.layers());
  for (std::uint32_t l = 0; l < network.layers(); ++l) layers.emplace_back(network.layer(l));
  return layers;
}

std::uint32_t widest(const std::vector<DeviceLayer>& layers) {
  std::uint32_t most = 0;
  for (const DeviceLayer& layer : layers) most = std::max({most, layer.inputs(), layer.outputs()});
  return most;
}

}  // namespace winnow::challenge
