// Curves of the weights of layers, by which a density is divided among them: by kernels of our own
// where the device has them, else layer by layer with LibTorch's operations.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <span>
#include <vector>

#include "prune/evolution/trainee/magnitude_curve.h"
#include "prune/training/masks/masked_layer.h"

namespace winnow {

// A layer's weight [K, ...], in blocks of `vector` output channels.
struct WeightBlocks {
  torch::Tensor weight;
  std::int64_t vector = 1;
};

// Of the blocks of each layer, at curve_ranks(). All layers are on one device; waits for it twice.
std::vector<MagnitudeCurve> magnitude_curves(std::span<const WeightBlocks> layers);

// The same blocks in the same order, but `squares` sums the squares of the weights themselves, so
// that blocks of different sizes compare.
std::vector<MagnitudeCurve> weight_curves(std::span<const WeightBlocks> layers);

// magnitude_curves() of masked layers. Kernels add squares in another order, and magnitudes of
// vectors as importances_of_layers() of
// mask_update.h has them. The host waits for the device once, by LibTorch's
// operations twice.
std::vector<MagnitudeCurve> curves_of_layers(std::span<const MaskedLayer> layers,
                                             bool fuses_kernels);

}  // namespace winnow
