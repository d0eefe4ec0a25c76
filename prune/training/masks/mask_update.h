// What a mask update computes of all layers: by kernels of our own where the device has them
// (mask_kernels.h), else layer by layer with LibTorch's operations.
#pragma once

#include <span>
#include <vector>

#include "prune/training/masks/mask_kernels.h"
#include "prune/training/masks/masked_layer.h"

namespace winnow {

// Null where layers shall or must be computed one by one: without `fuses_kernels`, on the CPU,
// where kernels do not cover a layer (can_rank()), or where there is no layer.
const MaskKernels* kernels_for(std::span<const MaskedLayer> layers, bool fuses_kernels);

// Eq 2 of each layer's blocks: block_magnitudes() of mask_selection.h with alpha 0, else
// block_importance(). `alphas` is [layers], or empty for all 0. Kernels add in another order, so
// that some values differ in the last bit. With a Fisher criterion they need what is ranked of all
// layers at once: one more copy of all weights.
std::vector<torch::Tensor> importances_of_layers(std::span<const MaskedLayer> layers,
                                                 std::span<const double> alphas,
                                                 bool fuses_kernels);

// Eq 3: top_blocks() of mask_selection.h for each layer. Importances are f32, all of one device.
// Kernels count what MaskedLayer::migration_from() the masks before will; else that is left to it.
MaskChoice top_blocks_of_layers(std::span<const MaskedLayer> layers,
                                std::span<const torch::Tensor> importances,
                                std::span<const double> sparsities, bool fuses_kernels);

}  // namespace winnow
