// Training steps recorded as CUDA graphs. Their code needs LibTorch's CUDA half, so it lies in a
// module of its own (prune/training/cuda) that is opened when a GPU is used.
#pragma once

#include <torch/types.h>

#include <cstddef>
#include <functional>
#include <memory>

namespace winnow {

class StepGraphs {
 public:
  using Work = std::function<void()>;

  virtual ~StepGraphs() = default;

  // Runs `work` on the stream that record() uses, after all work of the device, and waits for it.
  // What LibTorch and its libraries set up at a first call is not recorded later.
  virtual void run(const Work& work) = 0;

  // Records what `work` launches, without running it, and gives the number for launch(). Tensors
  // that it makes and that somebody holds keep their memory until forget(); the memory of the
  // others is that of later recordings too, so that one recording runs at a time. Throws what
  // `work` throws: then nothing is recorded.
  virtual std::size_t record(const Work& work) = 0;

  // Drops what was recorded, and with it what it uses.
  virtual void forget() = 0;

  // Launches the recording of this number on the current stream and does not wait.
  virtual void launch(std::size_t number) = 0;
};

// For a device that resolve_device() gave. None on the CPU, and where the module is missing: it is
// built where LibTorch has CUDA and its headers are found.
std::unique_ptr<StepGraphs> make_step_graphs(const torch::Device& device);

}  // namespace winnow
