// Launches of kernels that begin before the one before them has ended, and then wait for it
// (programmatic dependent launch; in a CUDA graph the edges between such kernels stay so).
//
// The rules, which make it safe to give memory to a later step as soon as its last reader is
// enqueued:
//   - A kernel launched with `overlaps` calls wait_for_launch_before() (overlap.cuh), in each
//     thread that reads or writes memory which any kernel writes, or before a barrier that this
//     thread then waits at. Until then it may read what no kernel writes, weights above all, and
//     writes nothing.
//   - What kernels write is read by plain loads, never by __ldg: that promises that nobody writes
//     there while the kernel runs, and the kernel runs before it has waited.
//   - So a kernel ends after the one before it has ended, that one after its own predecessor, and
//     thus all before. What follows the wait follows all launches before on the stream, however
//     many of them have begun early.
//   - begin_next_launch() may come at any time: it says nothing about memory.
//   - Kernels of libraries, copies and fills are enqueued as they are. They begin when everything
//     before has ended; ours after one of them waits for it as for any other.
//   - A kernel that does not wait is launched without overlap: it too begins when everything before
//     has ended.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "runtime/base/error.h"
#include "runtime/device/attribute.h"
#include "runtime/device/cuda_check.h"
#include "runtime/device/device_code.h"

namespace winnow {

struct LaunchSize {
  dim3 blocks = 1;
  dim3 threads = 32;
  std::size_t shared_bytes = 0;
  int cluster = 1;  // thread blocks along x
};

// Whether the current GPU can begin a launch before the one before it has ended.
inline bool can_overlap() {
  return runs_hopper_code();
}

// Whether its thread blocks can be in clusters, which read each other's shared memory.
inline bool has_clusters() {
  return runs_hopper_code();
}

// Enqueues kernel(arguments...). With `overlaps` it may begin before the launch before it has
// ended, where the GPU can do that; `kernel` then calls wait_for_launch_before(). Throws
// Error{device} if the launch is refused.
template <typename... Parameters, typename... Arguments>
void launch_overlapping(void (*kernel)(Parameters...), const LaunchSize& size, bool overlaps,
                        cudaStream_t stream, const Arguments&... arguments) {
  cudaLaunchAttribute attributes[2];
  unsigned count = 0;
  if (overlaps && can_overlap()) {
    attributes[count].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attributes[count++].val.programmaticStreamSerializationAllowed = 1;
  }
  if (size.cluster > 1) {
    attributes[count].id = cudaLaunchAttributeClusterDimension;
    attributes[count].val.clusterDim.x = static_cast<unsigned>(size.cluster);
    attributes[count].val.clusterDim.y = 1;
    attributes[count++].val.clusterDim.z = 1;
  }
  cudaLaunchConfig_t config{};
  config.gridDim = size.blocks;
  config.blockDim = size.threads;
  config.dynamicSmemBytes = size.shared_bytes;
  config.stream = stream;
  config.attrs = attributes;
  config.numAttrs = count;
  CUDA_CHECK(cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...));
}

// Whether a block of the current GPU can have so much shared memory.
inline bool fits_shared_memory(std::size_t bytes) {
  const int most = device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  return bytes <= static_cast<std::size_t>(most);
}

// Lets a launch of `kernel` have so much dynamic shared memory. Throws Error{device} if that is
// more than the GPU has.
template <typename... Parameters>
void allow_shared_memory(void (*kernel)(Parameters...), std::size_t bytes) {
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(bytes)));
}

// As launch_overlapping(), with as many blocks as `sms` SMs hold at a time. size.blocks is ignored.
// Throws Error{device} if a block does not fit an SM.
template <typename Argument>
void launch_filling(void (*kernel)(Argument), LaunchSize size, int sms, bool overlaps,
                    cudaStream_t stream, const Argument& argument) {
  allow_shared_memory(kernel, size.shared_bytes);
  const auto threads = static_cast<int>(size.threads.x);
  int per_sm = 0;
  CUDA_CHECK(
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, kernel, threads, size.shared_bytes));
  if (per_sm == 0)
    fail(ErrorCode::device, "a block of ", threads, " threads with ", size.shared_bytes,
         " bytes of shared memory does not fit");
  size.blocks = static_cast<unsigned>(sms * per_sm);
  launch_overlapping(kernel, size, overlaps, stream, argument);
}

}  // namespace winnow
