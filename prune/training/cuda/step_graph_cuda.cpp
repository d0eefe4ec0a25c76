// The module that step_graph.cpp opens: LibTorch's CUDA half is in the process by then.
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include <memory>
#include <vector>

#include "prune/training/steps/step_graph.h"

namespace winnow {
namespace {

class CudaStepGraphs : public StepGraphs {
 public:
  explicit CudaStepGraphs(c10::DeviceIndex device)
      : stream_(c10::cuda::getStreamFromPool(false, device)) {}

  void run(const Work& work) override {
    release_unused();
    {
      const c10::cuda::CUDAStreamGuard guard(stream_);
      work();
    }
    release_unused();
  }

  std::size_t record(const Work& work) override {
    release_unused();
    const c10::cuda::CUDAStreamGuard guard(stream_);
    auto graph = std::make_unique<at::cuda::CUDAGraph>();
    if (graphs_.empty()) {
      graph->capture_begin();
    } else {
      graph->capture_begin(graphs_.front()->pool());
    }
    try {
      work();
    } catch (...) {
      abandon(*graph);
      throw;
    }
    graph->capture_end();
    graphs_.push_back(std::move(graph));
    return graphs_.size() - 1;
  }

  void forget() override { graphs_.clear(); }

  void launch(std::size_t number) override { graphs_.at(number)->replay(); }

 private:
  // Waits for the device. The allocator keeps memory for the stream that had it: what run() and the
  // process's other work use one after the other would be there twice.
  static void release_unused() {
    c10::cuda::device_synchronize();
    c10::cuda::CUDACachingAllocator::emptyCache();
  }

  // The error that made the recording useless is the one to tell.
  static void abandon(at::cuda::CUDAGraph& graph) {
    try {
      graph.capture_end();
    } catch (const std::exception&) {
    }
  }

  c10::cuda::CUDAStream stream_;
  std::vector<std::unique_ptr<at::cuda::CUDAGraph>> graphs_;  // of one pool of memory
};

}  // namespace
}  // namespace winnow

extern "C" __attribute__((visibility("default"))) winnow::StepGraphs* winnow_make_step_graphs(
    int device) {
  return new winnow::CudaStepGraphs(static_cast<c10::DeviceIndex>(device));
}
