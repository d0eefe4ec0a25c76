// One sparse linear layer of many images: rows of 32 images are gathered from global memory, with
// the code of the challenge's engine `fused` for layers beyond shared memory (runtime/sparse).
#pragma once

#include <cuda_runtime_api.h>

#include "runtime/device/buffer.h"
#include "runtime/gpu/layer/activation.h"
#include "runtime/sparse/gather_weights.h"

namespace winnow {

class LinearGatherWeights {
 public:
  // Throws Error{device} if memory runs out.
  explicit LinearGatherWeights(const SparseLayer& layer);

  GatherView view() const { return layout_.view(data_.get()); }

 private:
  GatherLayout layout_;
  DeviceBuffer<uint4> data_;
};

// Enqueues y = x W^T + bias, then max(0, .) if `has_relu`.
//
//   x  [images, in] as chwn32    y  [images, out] as chwn32, of the same precision
//
// Sums are float in the order of the inputs: equal inputs give equal bits.
// Throws Error{usage} if x or y are of another size or form, Error{device} if the launch is
// refused.
void linear_gather(const LinearGatherWeights& weights, const ActivationView& x,
                   const ActivationView& y, bool has_relu, cudaStream_t stream);

}  // namespace winnow
