// SgdKernels of the module: tensors in, launches out.
#include "prune/training/steps/sgd_kernels.h"

#include <ATen/Functions.h>

#include <vector>

#include "prune/training/cuda/launch_checks.h"
#include "prune/training/cuda/sgd_launch.h"

namespace winnow {
namespace {

class CudaSgdKernels : public SgdKernels {
 public:
  void step(std::span<const SgdTensors> all, const SgdOptions& options,
            const at::Tensor& rate) const override {
    std::vector<SgdEntry> entries;
    for (const SgdTensors& one : all) {
      entries.push_back(
          {.weight = one.weight.mutable_data_ptr<float>(),
           .gradient = one.gradient.const_data_ptr<float>(),
           .momentum = one.momentum.mutable_data_ptr<float>(),
           .factor = one.factor.defined() ? one.factor.const_data_ptr<float>() : nullptr,
           .gradient_sum =
               one.gradient_sum.defined() ? one.gradient_sum.mutable_data_ptr<float>() : nullptr,
           .count = one.weight.numel(),
           .is_decayed = one.is_decayed});
    }
    require(launch_sgd({.device = rate.device().index(),
                        .stream = stream_of(rate),
                        .momentum = options.momentum,
                        .weight_decay = options.weight_decay,
                        .is_nesterov = options.is_nesterov,
                        .rate = rate.const_data_ptr<float>()},
                       entries));
  }
};

}  // namespace
}  // namespace winnow

extern "C" __attribute__((visibility("default"))) const winnow::SgdKernels* winnow_sgd_kernels() {
  static const winnow::CudaSgdKernels kernels;
  return &kernels;
}
