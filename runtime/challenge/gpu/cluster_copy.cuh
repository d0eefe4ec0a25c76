// Copies of many bytes from global memory to the shared memory of all blocks of a cluster, and the
// barriers that say when they are there (sm_90a; PTX ISA, mbarrier and cp.async.bulk).
#pragma once

#include <cstdint>

namespace winnow::challenge {

// In shared memory; ends a phase when `arrivals` threads and the bytes expected have come.
struct ClusterBarrier {
  std::uint64_t state;
};

__device__ __forceinline__ std::uint32_t shared_address(const void* p) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(p));
}

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

__device__ __forceinline__ std::uint32_t rank_in_cluster() {
  std::uint32_t rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

// All threads of all blocks of the cluster; what they wrote before is then seen.
__device__ __forceinline__ void meet_in_cluster() {
  asm volatile(
      "barrier.cluster.arrive.release.aligned;\n"
      "barrier.cluster.wait.acquire.aligned;" ::
          : "memory");
}

__device__ __forceinline__ void init_barrier(ClusterBarrier& barrier, std::uint32_t arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(&barrier)),
               "r"(arrivals)
               : "memory");
}
// After init_barrier(), before the cluster meets.
__device__ __forceinline__ void publish_barriers() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

// Arrives, and lets the phase wait for so many bytes as well.
__device__ __forceinline__ void expect_bytes(ClusterBarrier& barrier, std::uint32_t bytes) {
  asm volatile(
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(&barrier)),
      "r"(bytes)
      : "memory");
}

// Arrives at the same barrier of the block with this rank. Says only that this block is done with
// its shared memory: to pass on what it has written, the arrival would have to be of cluster scope,
// which costs a fence of all memory (measured: a third of the stack kernel's rate).
__device__ __forceinline__ void arrive_at(const ClusterBarrier& barrier, std::uint32_t rank) {
  asm volatile(
      "{\n"
      ".reg .b32 remote;\n"
      "mapa.shared::cluster.u32 remote, %0, %1;\n"
      "mbarrier.arrive.shared::cluster.b64 _, [remote];\n"
      "}" ::"r"(shared_address(&barrier)),
      "r"(rank)
      : "memory");
}

// Until the phase with this parity has ended.
__device__ __forceinline__ void wait_for(const ClusterBarrier& barrier, std::uint32_t parity) {
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again;\n"
      "}" ::"r"(shared_address(&barrier)),
      "r"(parity)
      : "memory");
}

// Begins to copy to the same place in every block named by `blocks`, a bit each, and tells the
// barrier there. Addresses and bytes are multiples of 16.
__device__ __forceinline__ void copy_to_cluster(void* to, const void* from, std::uint32_t bytes,
                                                const ClusterBarrier& barrier,
                                                std::uint16_t blocks) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
      "[%0], [%1], %2, [%3], %4;" ::"r"(shared_address(to)),
      "l"(from), "r"(bytes), "r"(shared_address(&barrier)), "h"(blocks)
      : "memory");
}

#endif

}  // namespace winnow::challenge
