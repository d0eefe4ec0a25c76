#include "prune/training/steps/step_graph.h"

#include "prune/training/cuda_module.h"

namespace winnow {

std::unique_ptr<StepGraphs> make_step_graphs(const torch::Device& device) {
  if (!device.is_cuda()) return nullptr;
  using Make = StepGraphs* (*)(int device);
  static const auto make =
      reinterpret_cast<Make>(module_function(WINNOW_CUDA_STEPS, "winnow_make_step_graphs"));
  return std::unique_ptr<StepGraphs>(make ? make(device.index()) : nullptr);
}

}  // namespace winnow
