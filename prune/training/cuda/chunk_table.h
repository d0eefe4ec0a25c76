// The host's side of launches whose blocks each take a chunk of one of many layers.
#pragma once

#include <cstdint>
#include <vector>

#include "prune/training/cuda/device_copy.h"

namespace winnow {

// On the host; on the device it is one tensor, layers first.
template <typename Layer>
struct ChunkTable {
  std::vector<Layer> layers;
  std::vector<unsigned> layer_of_chunk;

  // Gives the layer its first chunk.
  void add(Layer layer) {
    layer.first_chunk = chunks();
    layer_of_chunk.insert(layer_of_chunk.end(), layer.chunks, static_cast<unsigned>(layers.size()));
    layers.push_back(layer);
  }

  unsigned chunks() const { return static_cast<unsigned>(layer_of_chunk.size()); }

  at::Tensor on_device(const at::Device& device) const {
    return device_copy({std::as_bytes(std::span(layers)), std::as_bytes(std::span(layer_of_chunk))},
                       device);
  }

  // Enters the copy on the device into a call.
  template <typename Call>
  void enter(const at::Tensor& device_table, Call& call) const {
    const auto* first = device_table.const_data_ptr<std::uint8_t>();
    call.chunks = chunks();
    call.layers = reinterpret_cast<const Layer*>(first);
    call.layer_of_chunk = reinterpret_cast<const unsigned*>(first + layers.size() * sizeof(Layer));
  }
};

}  // namespace winnow
