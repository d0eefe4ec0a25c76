// CastKernels of the module: tensors in, launches out.
#include "prune/training/fused/cast_kernels.h"

#include <ATen/Functions.h>

#include <vector>

#include "prune/training/cuda/cast_launch.h"
#include "prune/training/cuda/launch_checks.h"

namespace winnow {
namespace {

class CudaCastKernels : public CastKernels {
 public:
  void cast(std::span<const at::Tensor> from, std::span<const at::Tensor> to) const override {
    if (from.empty()) return;
    std::vector<CastEntry> entries;
    for (std::size_t i = 0; i < from.size(); ++i) {
      entries.push_back({.from = from[i].const_data_ptr(),
                         .to = to[i].mutable_data_ptr(),
                         .count = from[i].numel()});
    }
    require(launch_casts({.device = from[0].device().index(),
                          .stream = stream_of(from[0]),
                          .to_bf16 = to[0].scalar_type() == at::kBFloat16},
                         entries));
  }
};

}  // namespace
}  // namespace winnow

extern "C" __attribute__((visibility("default"))) const winnow::CastKernels* winnow_cast_kernels() {
  static const winnow::CudaCastKernels kernels;
  return &kernels;
}
