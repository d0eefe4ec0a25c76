// One GPU as a session sees it: its properties, a stream and the libraries' handles.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <string>

#include "runtime/device/stream.h"

namespace winnow {

struct LibraryHandles;  // cuDNN's and cuBLASLt's, made when first wanted

class GpuContext {
 public:
  // Makes `gpu` the calling thread's device. Throws Error{device} if there is no such GPU.
  explicit GpuContext(int gpu);
  ~GpuContext();
  GpuContext(const GpuContext&) = delete;
  GpuContext& operator=(const GpuContext&) = delete;

  cudaStream_t stream() const { return stream_.get(); }
  void synchronize() const { stream_.synchronize(); }
  int sms() const { return properties_.multiProcessorCount; }
  std::size_t shared_bytes_per_block() const { return properties_.sharedMemPerBlockOptin; }
  bool has_half_products() const { return properties_.major >= 8; }  // mma.m16n8k16
  std::string name() const { return properties_.name; }
  int index() const { return gpu_; }

  // Empty until library_handles.h makes one. The reference stays valid as long as the context.
  LibraryHandles& libraries();

 private:
  int gpu_;
  cudaDeviceProp properties_{};
  Stream stream_;
  std::unique_ptr<LibraryHandles> libraries_;
};

}  // namespace winnow
