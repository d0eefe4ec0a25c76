// Kernels of our own for eq 3 on a GPU: the masks of all layers at once, where LibTorch takes some
// ten launches a layer. They lie in a module that is opened when a GPU is used
// (prune/training/cuda).
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <span>
#include <vector>

namespace winnow {

class MaskKernels {
 public:
  virtual ~MaskKernels() = default;

  // The masks of the counts[i] largest values of importances[i], as top_blocks() of
  // mask_selection.h chooses them: u8, of the same shapes. Importances are f32, contiguous and of
  // one GPU, each of fewer than 2^31 values; a count is from 0 to all. The call is work of the
  // current stream and does not wait for it; equal inputs give equal masks.
  virtual std::vector<torch::Tensor> top_blocks(std::span<const torch::Tensor> importances,
                                                std::span<const std::int64_t> counts) const = 0;
};

// None on the CPU, and where the module is missing or was built without a CUDA compiler.
const MaskKernels* mask_kernels(const torch::Device& device);

}  // namespace winnow
