#include "prune/training/cuda_module.h"
#include "prune/training/ranks/rank_sum.h"
#include "runtime/base/error.h"

namespace winnow {

std::unique_ptr<RankSum> make_nccl_sum(const SumPlace& place, const torch::Device& device) {
  using Make = RankSum* (*)(const SumPlace& place, int device);
  static const auto make =
      reinterpret_cast<Make>(module_function(WINNOW_CUDA_RANKS, "winnow_make_nccl_sum"));
  if (make) return std::unique_ptr<RankSum>(make(place, device.index()));
  fail(ErrorCode::device,
       "train.data_parallel: this build has no NCCL, by which GPUs divide a batch (",
       WINNOW_CUDA_RANKS,
       " is missing: nccl.h was not found when it was built); use one process, or device: cpu");
}

}  // namespace winnow
