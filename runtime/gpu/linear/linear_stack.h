// A stack of sparse linear layers in one launch: a thread block, or a cluster of them, takes a tile
// of 4, 8 or 16 images through all layers in shared memory, so that only the first layer's inputs
// and the last one's outputs are in global memory. Kernel and order of weights are those of the
// challenge's engine `fused` (runtime/sparse).
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/device/buffer.h"
#include "runtime/gpu/layer/activation.h"
#include "runtime/gpu/linear/linear_stack_forms.h"
#include "runtime/sparse/resident_weights.h"

namespace winnow {

// Layers with their weights in device memory, ordered for one form.
class LinearStackWeights {
 public:
  // `has_relu` by layer. Throws Error{usage} if the layers do not follow each other, one is too
  // wide for 16 bits or has fewer outputs than fewest_outputs() asks for, Error{device} if memory
  // runs out.
  LinearStackWeights(const std::vector<SparseLayer>& layers, const std::vector<bool>& has_relu,
                     const LinearStackForm& form);

  std::size_t shared_bytes() const { return form_.rows.shared_bytes(resident_.rows()); }

 private:
  friend void linear_stack(const LinearStackWeights&, const ActivationView&, const ActivationView&,
                           int, cudaStream_t);

  LinearStackForm form_;
  ResidentWeights resident_;
  std::uint32_t layers_, inputs_, outputs_;
  DeviceBuffer<float> lowest_;              // [layers] of an output: 0 for a relu
  DeviceBuffer<std::uint32_t> result_row_;  // [outputs]
};

// Enqueues y = f_n(W_n ... f_1(W_1 x + b_1) ... + b_n), f being max(0, .) where the layer has a
// relu.
//
//   x  [images, in] row-major, f32 or f16    y  [images, out] row-major, f32 or f16
//
// `sms`, the SMs of the GPU, bounds how many blocks are launched. Inputs, values between layers and
// outputs are rounded to the form's precision, sums are float in an order that depends on the
// weights alone: equal inputs give equal bits. An infinity (a half that ran over) may spoil other
// outputs of the same image.
// Throws Error{usage} if x or y are of another size or layout, if there is no kernel for the form
// or its blocks are more than `sms`, Error{device} if the launch is refused.
void linear_stack(const LinearStackWeights& weights, const ActivationView& x,
                  const ActivationView& y, int sms, cudaStream_t stream);

}  // namespace winnow
