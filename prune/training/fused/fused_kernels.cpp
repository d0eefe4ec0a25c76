#include "prune/training/fused/fused_kernels.h"

#include "prune/training/module_kernels.h"

namespace winnow {

const FusedKernels* fused_kernels(const torch::Device& device) {
  return module_kernels<FusedKernels>(device, "winnow_fused_kernels");
}

bool is_fusible(const torch::Tensor& images) {
  const bool is_bf16 = images.scalar_type() == torch::kBFloat16;
  if (!is_bf16 && images.scalar_type() != torch::kFloat) return false;
  return images.dim() == 4 && images.numel() > 0 && images.size(1) % (is_bf16 ? 8 : 4) == 0 &&
         images.is_contiguous(torch::MemoryFormat::ChannelsLast);
}

}  // namespace winnow
