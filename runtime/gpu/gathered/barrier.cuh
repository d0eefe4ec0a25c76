// Barriers in shared memory that count arrivals and the bytes of bulk copies (PTX ISA, mbarrier).
// Addresses are those of shared memory; a barrier has 8 bytes. Compute capability 9.0.
#pragma once

#include <cstdint>

#include "runtime/device/cluster.cuh"

namespace winnow {

__device__ __forceinline__ void init_barrier(std::uint32_t barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals));
}

// Makes initialized barriers visible to bulk copies.
__device__ __forceinline__ void fence_barriers() {
  asm volatile("fence.mbarrier_init.release.cluster;");
}

__device__ __forceinline__ void arrive(std::uint32_t barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

// Arrives, and lets the barrier wait for so many bytes too.
__device__ __forceinline__ void arrive_and_expect(std::uint32_t barrier, std::uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}

// Waits for the end of the phase of this parity: 0 for the first, 1 for the second, 0, ...
__device__ __forceinline__ void wait_for(std::uint32_t barrier, std::uint32_t parity) {
  asm volatile(
      "{\n.reg .pred done;\n"
      "again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@done bra end;\nbra again;\nend:\n}" ::"r"(barrier),
      "r"(parity)
      : "memory");
}

}  // namespace winnow
