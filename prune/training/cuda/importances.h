// MaskKernels::importances of the module.
#pragma once

#include <vector>

#include "prune/training/masks/mask_kernels.h"

namespace winnow {

std::vector<at::Tensor> importances_by_kernels(std::span<const RankedLayer> layers);

}  // namespace winnow
