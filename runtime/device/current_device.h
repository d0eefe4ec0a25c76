// The calling thread's device, changed for a while.
#pragma once

#include "runtime/device/cuda_check.h"

namespace winnow {

// Makes `gpu` the calling thread's device and, at its end, the one that was so before.
class CurrentDevice {
 public:
  explicit CurrentDevice(int gpu) {
    CUDA_CHECK(cudaGetDevice(&before_));
    CUDA_CHECK(cudaSetDevice(gpu));
  }
  ~CurrentDevice() { cudaSetDevice(before_); }
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;

 private:
  int before_ = 0;
};

}  // namespace winnow
