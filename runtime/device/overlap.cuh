// What a kernel calls that may be launched before the one before it has ended
// (overlapping_launch.h says by which rules). Nothing happens before compute capability 9.0.
#pragma once

namespace winnow {

// The next launch may begin, as far as its own wait_for_launch_before(). It begins when all thread
// blocks have called this or ended.
__device__ __forceinline__ void begin_next_launch() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

// Waits until all launches before have ended, so that what they wrote is there and what they read
// may be overwritten. At once where the launch did not overlap.
__device__ __forceinline__ void wait_for_launch_before() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

}  // namespace winnow
