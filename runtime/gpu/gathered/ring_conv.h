// The gathered convolution with a ring of stages on the GPU.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/device/buffer.h"
#include "runtime/gpu/gathered/gathered_loads.h"
#include "runtime/gpu/gathered/ring_launch.h"
#include "runtime/gpu/gathered/ring_weights.h"
#include "runtime/gpu/layer/activation.h"

namespace winnow {

// RingWeights and biases in device memory.
struct RingLayer {
  RingProblem problem;
  RingWeights weights;  // without what is in device memory
  DeviceBuffer<std::byte> records;
  DeviceBuffer<std::int32_t> batches, stage_begin, stage_block, addend_begin, place;
  DeviceBuffer<float> bias;  // [groups * 16]
};

// `bias` has one value for each output channel. The weights are those of pack_for_ring() for the
// problem's convolution and tile.
RingLayer upload_ring_layer(RingWeights weights, std::span<const float> bias,
                            const RingProblem& problem);

// Why the current GPU cannot run ring_conv; empty if it can. Throws Error{device} without a GPU.
std::string ring_missing_reason();

// Enqueues out = pool(relu(conv(in) + bias + addend)), all nchw32c8n f16 without halos; sums in
// fp32. `addend` is as `out`, whose memory it may be, where the problem adds, and null elsewhere;
// it wants a problem without pooling. Channels lie at the places that the weights were packed for.
// `loads` says how input and addend are copied; the bits are the same.
// Throws Error{usage} if sizes or formats do not fit, Error{device} if a launch is refused.
void ring_conv(const RingLayer& layer, const ActivationView& in, const ActivationView* addend,
               const ActivationView& out, int sms, GatheredLoads loads, cudaStream_t stream);

}  // namespace winnow
