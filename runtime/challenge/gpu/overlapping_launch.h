// Launches of kernels that begin before the one before them has ended, and then wait for it.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "runtime/device/cuda_check.h"

namespace winnow::challenge {

struct LaunchSize {
  int blocks = 1;
  int threads = 32;
  std::size_t shared_bytes = 0;
};

// Whether the current GPU can do that.
inline bool can_overlap() {
  int gpu = 0, major = 0;
  CUDA_CHECK(cudaGetDevice(&gpu));
  CUDA_CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, gpu));
  return major >= 9;
}

// `kernel` calls wait_for_launch_before() (group_math.cuh) if `overlaps`.
template <typename Argument>
void launch_overlapping(void (*kernel)(Argument), const Argument& argument, const LaunchSize& size,
                        bool overlaps, cudaStream_t stream) {
  cudaLaunchAttribute overlap{};
  overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  overlap.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(size.blocks));
  config.blockDim = dim3(static_cast<unsigned>(size.threads));
  config.dynamicSmemBytes = size.shared_bytes;
  config.stream = stream;
  config.attrs = &overlap;
  config.numAttrs = overlaps && can_overlap() ? 1 : 0;
  CUDA_CHECK(cudaLaunchKernelEx(&config, kernel, argument));
}

}  // namespace winnow::challenge
