// Copies from global to shared memory that run while the thread goes on (sm_80 and later; PTX ISA,
// cp.async). A thread waits for its own copies only: other threads see the bytes after a barrier.
#pragma once

#include <cstdint>

namespace winnow {

// Begins to copy 16 bytes; both addresses are multiples of 16.
__device__ __forceinline__ void copy_to_shared(void* to, const void* from) {
  const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address), "l"(from) : "memory");
}
// Begins to write 16 bytes to an address in shared memory, copied or, without `is_copied`, zeros.
// Both addresses are multiples of 16.
__device__ __forceinline__ void copy_or_zero(std::uint32_t to, const void* from, bool is_copied) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from),
               "r"(is_copied ? 16 : 0)
               : "memory");
}
// Begins to copy 8 bytes; both addresses are multiples of 8.
__device__ __forceinline__ void copy_8_to_shared(void* to, const void* from) {
  const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(address), "l"(from) : "memory");
}
// The copies that this thread has begun since the last call are a group.
__device__ __forceinline__ void end_of_copies() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
// Waits until all groups but the last kStillRunning are copied.
template <int kStillRunning>
__device__ __forceinline__ void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kStillRunning) : "memory");
}

}  // namespace winnow
