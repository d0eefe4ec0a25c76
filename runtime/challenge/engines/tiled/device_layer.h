// Layers in device memory.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/challenge/network.h"
#include "runtime/device/buffer.h"

namespace winnow::challenge {

// What a kernel reads of a layer: SparseLayer in device memory.
struct LayerView {
  std::uint32_t inputs = 0;
  std::uint32_t outputs = 0;
  const std::uint32_t* row_begin = nullptr;  // [outputs + 1]
  const std::uint32_t* input = nullptr;      // [connections], ascending within a row
  const float* value = nullptr;              // [connections]
  const float* bias = nullptr;               // [outputs]
};

// A SparseLayer, CSR by output as it is.
class DeviceLayer {
 public:
  // Copies `layer`; returns when it is there. Throws Error{device} if memory runs out.
  explicit DeviceLayer(const SparseLayer& layer);

  LayerView view() const;
  std::uint32_t inputs() const { return inputs_; }
  std::uint32_t outputs() const { return static_cast<std::uint32_t>(bias_.count()); }
  std::uint32_t connections() const { return static_cast<std::uint32_t>(input_.count()); }

 private:
  std::uint32_t inputs_;
  DeviceBuffer<std::uint32_t> row_begin_;
  DeviceBuffer<std::uint32_t> input_;
  DeviceBuffer<float> value_;
  DeviceBuffer<float> bias_;
};

// All layers of `network`, in order.
std::vector<DeviceLayer> upload_layers(const Network& network);

// The most neurons that a layer of `network` takes or gives: the width of its activations.
std::uint32_t widest(const std::vector<DeviceLayer>& layers);

}  // namespace winnow::challenge
