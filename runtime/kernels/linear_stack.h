// Sparse linear layers, several in one launch: a block takes a tile of 4, 8 or 16 images through
// all of them in shared memory, so that only the first layer's inputs and the last one's outputs
// see global memory. Kernel and order of weights are those of the challenge's engine `fused`
// (runtime/stack).
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/device/buffer.h"
#include "runtime/kernels/activation.h"
#include "runtime/stack/resident_form.h"
#include "runtime/stack/resident_weights.h"

namespace winnow {

// How activations lie in shared memory, and how many blocks of a cluster share a tile.
struct LinearStackForm {
  ResidentForm rows;
  int blocks = 1;  // 1, or for tiles of 4 images 2, 4 or 8

  friend bool operator==(const LinearStackForm&, const LinearStackForm&) = default;
};
std::string to_string(const LinearStackForm& form);  // "f32 tile=4 blocks=8"

// Layers with their weights in device memory, ordered for one form.
class LinearStackWeights {
 public:
  // `has_relu` by layer. Throws Error{usage} if the layers do not follow each other or one is too
  // wide for 16 bits, Error{device} if memory runs out.
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

// What of a GPU decides.
struct StackDevice {
  int processors = 0;
  std::size_t shared_bytes = 0;  // that a block may have
  bool has_clusters = false;
};

// The most features that a layer of a stack takes, and gives.
struct StackWidths {
  std::int64_t inputs = 0;
  std::int64_t outputs = 0;
};

// The forms worth timing for so many images. A form is left out if one with fewer images to a tile
// has a tile for every processor already; a cluster where its blocks would want for processors or
// outputs. Empty if none fits.
std::vector<LinearStackForm> linear_stack_forms(Precision precision, const StackWidths& widest,
                                                std::int64_t images, const StackDevice& device);

// The most features that a stack may have with so much shared memory a block.
std::int64_t most_stack_features(std::size_t shared_bytes);

// Enqueues y = f_n(W_n ... f_1(W_1 x + b_1) ... + b_n), f being max(0, .) where the layer has a
// relu.
//
//   x  [images, in] row-major, f32 or f16    y  [images, out] row-major, f32 or f16
//
// Values between layers are rounded to the form's precision, sums are float in an order that
// depends on the weights alone: equal inputs give equal bits. An infinity (a half that ran over)
// may spoil other outputs of the same image.
// Throws Error{usage} if x or y are of another size, Error{device} if the launch is refused.
void linear_stack(const LinearStackWeights& weights, const ActivationView& x,
                  const ActivationView& y, int processors, cudaStream_t stream);

}  // namespace winnow
