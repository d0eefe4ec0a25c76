// Barriers in shared memory that count arrivals and the bytes of bulk copies (PTX ISA, mbarrier).
// Addresses are those of shared memory; a barrier has 8 bytes. Bytes are counted by compute
// capability 9.0 and later alone, arrivals by 8.0 too.
#pragma once

#include <cstdint>

#include "runtime/device/cluster.cuh"

namespace winnow {

__device__ __forceinline__ void init_barrier(std::uint32_t barrier, int arrivals) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

// Makes initialized barriers visible to bulk copies.
__device__ __forceinline__ void fence_barriers() {
#if __CUDA_ARCH__ >= 900
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
}

__device__ __forceinline__ void arrive(std::uint32_t barrier) {
  asm volatile("{\n.reg .b64 state;\nmbarrier.arrive.shared.b64 state, [%0];\n}" ::"r"(barrier)
               : "memory");
}

// Arrives when the copies to shared memory have ended that this thread has begun (async_copy.cuh).
// Counts among the arrivals that the barrier was told.
__device__ __forceinline__ void arrive_after_copies(std::uint32_t barrier) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(barrier) : "memory");
}

// Arrives, and lets the barrier wait for so many bytes too. Compute capability 9.0.
__device__ __forceinline__ void arrive_and_expect(std::uint32_t barrier, std::uint32_t bytes) {
#if __CUDA_ARCH__ >= 900
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
#else
  __trap();
#endif
}

// What this thread has read and written in shared memory, or knows of others to have, comes before
// the bulk copies that it begins afterwards. Compute capability 9.0.
__device__ __forceinline__ void fence_for_bulk_copies() {
#if __CUDA_ARCH__ >= 900
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#else
  __trap();
#endif
}

// Begins to copy so many bytes, a multiple of 16 at addresses that are such; they arrive at the
// barrier. Compute capability 9.0.
__device__ __forceinline__ void copy_in_bulk(std::uint32_t to, const void* from,
                                             std::uint32_t bytes, std::uint32_t barrier) {
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(to),
      "l"(from), "r"(bytes), "r"(barrier)
      : "memory");
#else
  __trap();
#endif
}

// Waits for the end of the phase of this parity: 0 for the first, 1 for the second, 0, ...
__device__ __forceinline__ void wait_for(std::uint32_t barrier, std::uint32_t parity) {
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "{\n.reg .pred done;\n"
      "again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@done bra end;\nbra again;\nend:\n}" ::"r"(barrier),
      "r"(parity)
      : "memory");
#else
  asm volatile(
      "{\n.reg .pred done;\n"
      "again: mbarrier.test_wait.parity.shared.b64 done, [%0], %1;\n"
      "@done bra end;\nbra again;\nend:\n}" ::"r"(barrier),
      "r"(parity)
      : "memory");
#endif
}

}  // namespace winnow
