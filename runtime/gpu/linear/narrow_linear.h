// A dense linear layer of at most 64 outputs, as networks end with: half floats, on tensor cores.
//
// It is too small to fill a GPU: what counts are latencies. So weights are fetched before the
// launch before has ended, a warp holds its share of them in registers, and inputs are read once
// from where they lie, also from a map that would have to be flattened.
#pragma once

#include <cuda_runtime_api.h>

#include "runtime/device/buffer.h"
#include "runtime/gpu/layer/activation.h"
#include "runtime/gpu/linear/narrow_weights.h"

namespace winnow {

// In device memory.
struct NarrowLinearLayer {
  NarrowInputs inputs;
  std::uint32_t outputs = 0;
  std::uint32_t tiles = 0;
  DeviceBuffer<std::uint16_t> values;
  DeviceBuffer<float> bias;
};
// Throws Error{device} if memory runs out.
NarrowLinearLayer upload_narrow_linear(const NarrowWeights& weights);

struct NarrowLinearCall {
  bool has_relu = false;
  int warps = 8;  // of a thread block, 1 to 16
  int sms = 1;    // of the GPU
};

// Enqueues y = x W^T + bias, then max(0, .) if has_relu. Sums are float in a fixed order: equal
// inputs give equal bits, whatever lies beside them.
//
//   x  [images, inputs] row-major f16, or the map that is flattened to it as nchw32c8n f16 with
//      channels at the places for which weights were packed: as layer.inputs says
//   y  [images, outputs] row-major, f16 or f32
//
// The GPU has compute capability 8.0 at least. Throws Error{usage} if x or y are of another size or
// format or there are other numbers of warps, Error{device} if the launch is refused.
void narrow_linear(const NarrowLinearLayer& layer, const ActivationView& x, const ActivationView& y,
                   const NarrowLinearCall& call, cudaStream_t stream);

}  // namespace winnow
