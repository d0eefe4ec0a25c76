// A layer as the gather kernel reads it: per output, in steps of 4 connections.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "runtime/challenge/network.h"
#include "runtime/device/buffer.h"

namespace winnow::challenge {

// Device memory. Output j has steps [begin[j], begin[j + 1]); connections that fill its last step
// have weight 0.
struct GatherView {
  std::uint32_t inputs = 0;
  std::uint32_t outputs = 0;
  const std::uint32_t* begin = nullptr;  // [outputs + 1]
  const uint2* narrow = nullptr;         // [steps]: 4 inputs of 16 bits, or null
  const uint4* wide = nullptr;           // [steps]: 4 inputs of 32 bits, where inputs > 65536
  const float4* value = nullptr;         // [steps]
  const float* bias = nullptr;           // [outputs]
};

class GatherWeights {
 public:
  // Returns when it is there. Throws Error{device} if memory runs out.
  explicit GatherWeights(const SparseLayer& layer);

  GatherView view() const;

 private:
  std::uint32_t inputs_;
  DeviceBuffer<std::uint32_t> begin_;
  DeviceBuffer<uint2> narrow_;
  DeviceBuffer<uint4> wide_;
  DeviceBuffer<float4> value_;
  DeviceBuffer<float> bias_;
};

}  // namespace winnow::challenge
