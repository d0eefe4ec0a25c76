// The gathered convolution with a ring of stages on the GPU.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/device/buffer.h"
#include "runtime/gpu/gathered/ring_weights.h"
#include "runtime/gpu/layer/activation.h"

namespace winnow {

// RingWeights and biases in device memory.
struct RingLayer {
  Conv conv;
  RingTile tile;
  bool has_relu = false;
  std::int64_t groups = 0, capacity = 0;
  int parts = 0;
  DeviceBuffer<std::byte> records;
  DeviceBuffer<std::int32_t> batches, stage_begin, stage_block, place;
  DeviceBuffer<float> bias;  // [groups * 16]
};

// `bias` has one value for each output channel.
RingLayer upload_ring_layer(const RingWeights& weights, std::span<const float> bias,
                            const Conv& conv, const RingTile& tile, bool has_relu);

// Tiles whose boxes fit a thread block of so much shared memory.
std::vector<RingTile> ring_tiles(const Conv& conv, std::int64_t most_shared_bytes);

// Enqueues out = relu(conv(in) + bias), both nchw32c8n f16 without halos; sums in fp32.
// Throws Error{usage} if sizes or formats do not fit, Error{device} if a launch is refused.
void ring_conv(const RingLayer& layer, const ActivationView& in, const ActivationView& out, int sms,
               cudaStream_t stream);

}  // namespace winnow
