#include "prune/training/steps/step_graph.h"

#include "prune/training/cuda_module.h"

namespace winnow {

std::unique_ptr<StepGraph> make_step_graph(const torch::Device& device) {
  if (!device.is_cuda()) return nullptr;
  using Make = StepGraph* (*)(int device);
  static const auto make =
      reinterpret_cast<Make>(module_function(WINNOW_CUDA_STEPS, "winnow_make_step_graph"));
  return std::unique_ptr<StepGraph>(make ? make(device.index()) : nullptr);
}

}  // namespace winnow
