// The gathered convolution with a resident input on the GPU.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <span>

#include "runtime/device/buffer.h"
#include "runtime/gpu/gathered/gathered_loads.h"
#include "runtime/gpu/gathered/resident_weights.h"
#include "runtime/gpu/gathered/ring_arguments.h"
#include "runtime/gpu/layer/activation.h"

namespace winnow {

// What a launch does beside the convolution.
struct ResidentEpilogue {
  bool has_relu = false;
  RingPool pool = RingPool::none;  // after all else
};

// ResidentConvWeights and biases in device memory.
struct ResidentLayer {
  Conv conv;
  ResidentTile tile;
  ResidentEpilogue epilogue;
  Extents in, out;  // that the weights are packed for, before pooling; of any batch
  std::int64_t capacity = 0;
  DeviceBuffer<std::byte> records;
  DeviceBuffer<std::int32_t> heads, place;
  DeviceBuffer<float> bias;  // [groups * 16]
};

// `weights` are packed for `tile`, `in` and `out`; `bias` has one value for each output channel.
ResidentLayer upload_resident_layer(const ResidentConvWeights& weights, std::span<const float> bias,
                                    const Conv& conv, const ResidentTile& tile, const Extents& in,
                                    const Extents& out, const ResidentEpilogue& epilogue);

// Shared memory, SMs and clusters of the current GPU. Throws Error{device} without one.
ResidentLimits resident_limits();

// Enqueues out = pool(relu(conv(in) + bias + addend)), all nchw32c8n f16 without halos; sums in
// fp32, equal bits at each launch. `addend` is null or has the size of the output before pooling
// and its order of channels; without pooling it may be the output's memory. Channels lie at the
// places that the weights were packed for. Throws Error{usage} if sizes or formats do not fit,
// Error{device} if a launch is refused.
void resident_conv(const ResidentLayer& layer, const ActivationView& in,
                   const ActivationView* addend, const ActivationView& out, GatheredLoads loads,
                   cudaStream_t stream);

}  // namespace winnow
