// The module that step_graph.cpp opens: LibTorch's CUDA half is in the process by then.
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include <memory>

#include "prune/training/steps/step_graph.h"

namespace winnow {
namespace {

class CudaStepGraph : public StepGraph {
 public:
  explicit CudaStepGraph(c10::DeviceIndex device)
      : stream_(c10::cuda::getStreamFromPool(false, device)) {}

  void run(const Work& work) override {
    c10::cuda::device_synchronize();
    {
      const c10::cuda::CUDAStreamGuard guard(stream_);
      work();
    }
    stream_.synchronize();
  }

  void record(const Work& work) override {
    graph_.reset();
    c10::cuda::device_synchronize();
    c10::cuda::CUDACachingAllocator::emptyCache();  // memory of run() that only its stream can use
    const c10::cuda::CUDAStreamGuard guard(stream_);
    graph_ = std::make_unique<at::cuda::CUDAGraph>();
    graph_->capture_begin();
    try {
      work();
    } catch (...) {
      abandon();
      throw;
    }
    graph_->capture_end();
  }

  void forget() override { graph_.reset(); }

  void launch() override { graph_->replay(); }

 private:
  // The error that made the recording useless is the one to tell.
  void abandon() {
    try {
      graph_->capture_end();
    } catch (const std::exception&) {
    }
    graph_.reset();
  }

  c10::cuda::CUDAStream stream_;
  std::unique_ptr<at::cuda::CUDAGraph> graph_;
};

}  // namespace
}  // namespace winnow

extern "C" __attribute__((visibility("default"))) winnow::StepGraph* winnow_make_step_graph(
    int device) {
  return new winnow::CudaStepGraph(static_cast<c10::DeviceIndex>(device));
}
