// The host's side of launches whose blocks each take a chunk of one of many layers.
#pragma once

#include <ATen/Functions.h>

#include <cstdint>
#include <cstring>
#include <vector>

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
  std::size_t layer_bytes() const { return layers.size() * sizeof(Layer); }
  std::size_t chunk_bytes() const { return layer_of_chunk.size() * sizeof(unsigned); }

  // From pinned memory, which LibTorch keeps until the copy is made: the host does not wait.
  at::Tensor on_device(const at::Device& device) const {
    const auto bytes = static_cast<std::int64_t>(layer_bytes() + chunk_bytes());
    const at::Tensor host =
        at::empty({bytes}, at::TensorOptions().dtype(at::kByte).pinned_memory(true));
    auto* to = host.mutable_data_ptr<std::uint8_t>();
    std::memcpy(to, layers.data(), layer_bytes());
    std::memcpy(to + layer_bytes(), layer_of_chunk.data(), chunk_bytes());
    return host.to(device, /*non_blocking=*/true);
  }

  // Enters the copy on the device into a call.
  template <typename Call>
  void enter(const at::Tensor& device_table, Call& call) const {
    const auto* first = device_table.const_data_ptr<std::uint8_t>();
    call.chunks = chunks();
    call.layers = reinterpret_cast<const Layer*>(first);
    call.layer_of_chunk = reinterpret_cast<const unsigned*>(first + layer_bytes());
  }
};

}  // namespace winnow
