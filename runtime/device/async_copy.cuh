// Copies from global to shared memory that run while the thread goes on (sm_80 and later).
#pragma once

#include <cstdint>

namespace winnow {

// 16 bytes.
__device__ __forceinline__ void copy_to_shared(void* to, const void* from) {
  const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address), "l"(from) : "memory");
}
// 8 bytes.
__device__ __forceinline__ void copy_8_to_shared(void* to, const void* from) {
  const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(address), "l"(from) : "memory");
}
__device__ __forceinline__ void end_of_copies() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
// Until no more than the last kStillRunning groups of copies are on their way.
template <int kStillRunning>
__device__ __forceinline__ void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kStillRunning) : "memory");
}

}  // namespace winnow
