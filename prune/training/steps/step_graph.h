// A training step recorded as a CUDA graph. Its code needs LibTorch's CUDA half, so it lies in a
// module of its own (prune/training/cuda) that is opened when a GPU is used.
#pragma once

#include <torch/types.h>

#include <functional>
#include <memory>

namespace winnow {

class StepGraph {
 public:
  using Work = std::function<void()>;

  virtual ~StepGraph() = default;

  // Runs `work` on the stream that record() uses, after all work of the device, and waits for it.
  // What LibTorch and its libraries set up at a first call is not recorded later.
  virtual void run(const Work& work) = 0;

  // Records what `work` launches, without running it. Tensors made in it keep their memory as long
  // as the graph lives. A step that was recorded before is forgotten. Throws what `work` throws.
  virtual void record(const Work& work) = 0;

  // Drops what was recorded, and with it what it uses.
  virtual void forget() = 0;

  // Launches what was recorded on the current stream and does not wait.
  virtual void launch() = 0;
};

// For a device that resolve_device() gave. None on the CPU, and where the module is missing: it is
// built where LibTorch has CUDA and its headers are found.
std::unique_ptr<StepGraph> make_step_graph(const torch::Device& device);

}  // namespace winnow
