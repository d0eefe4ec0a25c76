#include "prune/training/cuda_module.h"
#include "prune/training/ranks/rank_group.h"
#include "runtime/base/error.h"

namespace winnow {

std::string gpu_identity(const torch::Device& device) {
  if (!device.is_cuda()) return "";
  using Name = const char* (*)(int device);
  static const auto name =
      reinterpret_cast<Name>(module_function(WINNOW_CUDA_RANKS, "winnow_gpu_identity"));
  return name ? name(device.index()) : "";
}

std::unique_ptr<RankGroup> make_nccl_group(const GroupPlace& place, const torch::Device& device) {
  using Make = RankGroup* (*)(const GroupPlace& place, int device);
  static const auto make =
      reinterpret_cast<Make>(module_function(WINNOW_CUDA_RANKS, "winnow_make_nccl_group"));
  if (make) return std::unique_ptr<RankGroup>(make(place, device.index()));
  fail(ErrorCode::device,
       "train.data_parallel: this build has no NCCL, by which GPUs divide a batch (",
       WINNOW_CUDA_RANKS,
       " is missing: nccl.h was not found when it was built); use one process, or device: cpu");
}

}  // namespace winnow
