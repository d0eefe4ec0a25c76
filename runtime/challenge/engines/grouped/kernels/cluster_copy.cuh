// Copies of many bytes from global memory to the shared memory of all blocks of a cluster (sm_90a;
// PTX ISA, cp.async.bulk).
#pragma once

#include "runtime/device/cluster.cuh"

namespace winnow::challenge {

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

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
