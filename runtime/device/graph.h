// A recorded sequence of device work that is launched as a whole.
#pragma once

#include <utility>

#include "runtime/device/cuda_check.h"

namespace winnow {

// An executable CUDA graph; move-only.
class DeviceGraph {
 public:
  DeviceGraph() = default;
  ~DeviceGraph() {
    if (executable_ != nullptr) cudaGraphExecDestroy(executable_);
  }
  DeviceGraph(DeviceGraph&& other) noexcept
      : executable_(std::exchange(other.executable_, nullptr)) {}
  DeviceGraph& operator=(DeviceGraph&& other) noexcept {
    std::swap(executable_, other.executable_);
    return *this;
  }

  // Records what `enqueue` puts on `stream`; nothing runs. `enqueue` must not synchronise or
  // allocate. Its exceptions pass through, with the recording ended.
  template <typename Enqueue>
  static DeviceGraph capture(cudaStream_t stream, Enqueue enqueue) {
    CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    try {
      enqueue();
    } catch (...) {
      cudaGraph_t unused = nullptr;
      cudaStreamEndCapture(stream, &unused);
      if (unused != nullptr) cudaGraphDestroy(unused);
      cudaGetLastError();
      throw;
    }
    cudaGraph_t recorded = nullptr;
    CUDA_CHECK(cudaStreamEndCapture(stream, &recorded));
    DeviceGraph graph;
    const cudaError_t status = cudaGraphInstantiate(&graph.executable_, recorded, 0);
    cudaGraphDestroy(recorded);
    CUDA_CHECK(status);
    return graph;
  }

  bool is_empty() const { return executable_ == nullptr; }
  void launch(cudaStream_t stream) const { CUDA_CHECK(cudaGraphLaunch(executable_, stream)); }

 private:
  cudaGraphExec_t executable_ = nullptr;
};

}  // namespace winnow
