// Clusters of thread blocks and the barriers by which a block learns that bytes have come to its
// shared memory (compute capability 9.0; PTX ISA, mbarrier, barrier.cluster and st.async).
//
// An address is 32 bits in shared memory: shared_address() is valid in this block, address_in() in
// another block of the cluster.
#pragma once

#include <cstdint>

namespace winnow {

// Lies in shared memory. It goes through phases, numbered from 0: one ends when so many threads
// have arrived as init_barrier() was told and all bytes have come that expect_bytes() announced.
struct ClusterBarrier {
  std::uint64_t state;
};

__device__ __forceinline__ std::uint32_t shared_address(const void* p) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(p));
}

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900

// The number of this block in its cluster, from 0.
__device__ __forceinline__ std::uint32_t rank_in_cluster() {
  std::uint32_t rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

__device__ __forceinline__ std::uint32_t blocks_in_cluster() {
  std::uint32_t blocks;
  asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(blocks));
  return blocks;
}

// All threads of all blocks of the cluster wait for each other; each then sees what the others
// wrote before.
__device__ __forceinline__ void meet_in_cluster() {
  asm volatile(
      "barrier.cluster.arrive.release.aligned;\n"
      "barrier.cluster.wait.acquire.aligned;" ::
          : "memory");
}

// One thread calls it; `arrivals` end a phase.
__device__ __forceinline__ void init_barrier(ClusterBarrier& barrier, std::uint32_t arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(&barrier)),
               "r"(arrivals)
               : "memory");
}
// The thread that called init_barrier() calls it afterwards, before the cluster meets.
__device__ __forceinline__ void publish_barriers() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

// One arrival at a barrier of this block; does not wait.
__device__ __forceinline__ void arrive(ClusterBarrier& barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(&barrier))
               : "memory");
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
// which costs a fence of all memory (measured: a third of the rate of multilayer_kernel).
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

// Waits until the phase has ended whose number has this parity, 0 or 1.
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

// Where the block with this rank has what lies at `address` in this block.
__device__ __forceinline__ std::uint32_t address_in(std::uint32_t address, std::uint32_t rank) {
  std::uint32_t remote;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(address), "r"(rank));
  return remote;
}

// Stores 16 bytes at `to`, an address_in() a block, and counts them at the barrier at `barrier`, an
// address_in() the same block; does not wait.
__device__ __forceinline__ void store_in_cluster(std::uint32_t to, const uint4& value,
                                                 std::uint32_t barrier) {
  asm volatile(
      "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 "
      "[%0], {%1, %2, %3, %4}, [%5];" ::"r"(to),
      "r"(value.x), "r"(value.y), "r"(value.z), "r"(value.w), "r"(barrier)
      : "memory");
}

// Loads what lies at `from`, an address_in() a block.
__device__ __forceinline__ float load_in_cluster(std::uint32_t from) {
  float value;
  asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(value) : "r"(from) : "memory");
  return value;
}

#else  // nothing that is launched before compute capability 9.0

__device__ inline std::uint32_t rank_in_cluster() {
  return 0;
}
__device__ inline std::uint32_t blocks_in_cluster() {
  return 1;
}
__device__ inline void meet_in_cluster() {
  __trap();
}
__device__ inline void init_barrier(ClusterBarrier&, std::uint32_t) {
  __trap();
}
__device__ inline void publish_barriers() {
  __trap();
}
__device__ inline void arrive(ClusterBarrier&) {
  __trap();
}
__device__ inline void expect_bytes(ClusterBarrier&, std::uint32_t) {
  __trap();
}
__device__ inline void arrive_at(const ClusterBarrier&, std::uint32_t) {
  __trap();
}
__device__ inline void wait_for(const ClusterBarrier&, std::uint32_t) {
  __trap();
}
__device__ inline std::uint32_t address_in(std::uint32_t address, std::uint32_t) {
  return address;
}
__device__ inline void store_in_cluster(std::uint32_t, const uint4&, std::uint32_t) {
  __trap();
}
__device__ inline float load_in_cluster(std::uint32_t) {
  __trap();
  return 0;
}

#endif

}  // namespace winnow
