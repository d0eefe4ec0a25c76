// Kernels of our own for eqs 2 and 3 on a GPU: importances and masks of all layers at once, where
// LibTorch takes some forty launches a layer, and the order of importances layer by layer. They lie
// in a module that is opened when a GPU is used (prune/training/cuda).
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace winnow {

// What a layer may have at most: kernels count in 32 bits.
constexpr std::int64_t kMostKernelValues = std::numeric_limits<std::int32_t>::max();

// What importance is made of.
struct RankedLayer {
  torch::Tensor weight;         // can_rank(), on a GPU
  torch::Tensor gradient = {};  // f32, of the weight's shape; undefined counts as 0
  std::int64_t vector = 1;      // output channels of a block
  double alpha = 0.0;           // from 0 to 1
};

// Whether importances() covers such a weight: f32, of 1 to kMostKernelValues values, row-major or,
// of images, with channels last.
inline bool can_rank(const torch::Tensor& weight) {
  const bool is_dense =
      weight.is_contiguous() ||
      (weight.dim() == 4 && weight.is_contiguous(torch::MemoryFormat::ChannelsLast));
  return weight.scalar_type() == torch::kFloat && weight.dim() > 0 && is_dense &&
         weight.numel() > 0 && weight.numel() <= kMostKernelValues;
}

// The mask that a choice replaces, and of what layer it is.
struct BlocksBefore {
  torch::Tensor mask;        // u8, row-major, of the importances' shape
  std::int64_t vector = 1;   // outputs of a block, at most 65536
  std::int64_t outputs = 0;  // of the layer: the last blocks may have fewer than `vector`
};

struct MaskChoice {
  std::vector<torch::Tensor> masks;  // u8, a block each
  // i64 [layers, 4], Migration's members in order. Undefined where they were not counted.
  torch::Tensor migrations = {};
};

// Of a layer's values in order, ascending, and the first one is 0.
using Ranks = std::vector<std::int64_t>;

class MaskKernels {
 public:
  virtual ~MaskKernels() = default;

  // Eq 2 of the blocks of all layers, on one GPU: f32 and row-major, block_magnitudes() of
  // mask_selection.h with a layer's alpha 0, else block_importance(). Sums are double,
  // as there, but in another order. The call is work of the current stream and does not wait for
  // it; equal inputs give equal bits. Throws c10::Error for layers that it does not cover.
  virtual std::vector<torch::Tensor> importances(std::span<const RankedLayer> layers) const = 0;

  // The masks of the counts[i] largest values of importances[i], as top_blocks() of
  // mask_selection.h chooses them: u8, of the same shapes. Importances are f32, contiguous and of
  // one GPU, each of kMostKernelValues at most; a count is from 0 to all. Unless `before` is empty,
  // it has the masks to count migrations from. The call is work of the current stream and does not
  // wait for it; equal inputs give equal masks. Throws c10::Error for what it does not cover.
  virtual MaskChoice top_blocks(std::span<const torch::Tensor> importances,
                                std::span<const std::int64_t> counts,
                                std::span<const BlocksBefore> before) const = 0;

  // What curves of magnitudes have of each layer's importances, as top_blocks() takes them, sorted
  // from the largest on: the values at the layer's ranks, and for each rank the sum of the squares
  // of what lies behind the rank before, up to this one. f64 [2, ranks of all layers] on the GPU.
  // There is a layer, and each has a rank. The call is work of the current stream and does not wait
  // for it; equal inputs give equal bits. Throws c10::Error for what it does not cover.
  virtual torch::Tensor at_ranks(std::span<const torch::Tensor> importances,
                                 std::span<const Ranks> ranks) const = 0;
};

// None on the CPU, and where the module is missing or was built without a CUDA compiler.
const MaskKernels* mask_kernels(const torch::Device& device);

}  // namespace winnow
