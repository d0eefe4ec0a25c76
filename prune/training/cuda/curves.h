// MaskKernels::at_ranks of the module.
#pragma once

#include "prune/training/masks/mask_kernels.h"

namespace winnow {

at::Tensor at_ranks_by_kernels(std::span<const at::Tensor> importances,
                               std::span<const Ranks> ranks);

}  // namespace winnow
