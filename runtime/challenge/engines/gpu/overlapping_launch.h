// Launches of kernels that begin before the one before them has ended, and then wait for it.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "runtime/base/error.h"
#include "runtime/device/attribute.h"
#include "runtime/device/cuda_check.h"

namespace winnow::challenge {

struct LaunchSize {
  int blocks = 1;
  int threads = 32;
  std::size_t shared_bytes = 0;
};

// Whether the current GPU can begin a launch before the one before it has ended.
inline bool can_overlap() {
  return device_attribute(cudaDevAttrComputeCapabilityMajor) >= 9;
}

// Enqueues kernel(argument). With `overlaps` it may begin before the launch before it has ended,
// where the GPU can do that; `kernel` then calls wait_for_launch_before() (group_math.cuh).
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

// Whether a block of the current GPU can have so much shared memory.
inline bool fits_shared_memory(std::size_t bytes) {
  const int most = device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  return bytes <= static_cast<std::size_t>(most);
}

// As launch_overlapping(), with as many blocks as `sms` SMs hold at a time. size.blocks is ignored.
// Throws Error{device} if a block does not fit an SM.
template <typename Argument>
void launch_filling(void (*kernel)(Argument), const Argument& argument, LaunchSize size, int sms,
                    bool overlaps, cudaStream_t stream) {
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(size.shared_bytes)));
  int per_sm = 0;
  CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, kernel, size.threads,
                                                           size.shared_bytes));
  if (per_sm == 0)
    fail(ErrorCode::device, "a block of ", size.threads, " threads with ", size.shared_bytes,
         " bytes of shared memory does not fit");
  size.blocks = sms * per_sm;
  launch_overlapping(kernel, argument, size, overlaps, stream);
}

}  // namespace winnow::challenge
