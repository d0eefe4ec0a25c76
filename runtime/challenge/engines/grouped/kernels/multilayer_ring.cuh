// How the weights of multilayer_kernel come to shared memory.
//
// 16 warps compute and one copies. A stage is the weights of 16 groups, one for each computing
// warp. Stage k goes to slot k % slots of every block of the cluster. The blocks take turns to
// copy. A slot is filled again when all computing warps of the cluster are done with it.
#pragma once

#include <cstdint>

#include "runtime/challenge/engines/grouped/kernels/cluster_copy.cuh"
#include "runtime/challenge/engines/grouped/kernels/multilayer_kernel.h"
#include "runtime/device/cluster.cuh"

namespace winnow::challenge {

inline constexpr std::uint32_t kClusterBlocks = 2;
inline constexpr std::uint32_t kTileImages = 16;
inline constexpr std::uint32_t kComputing = kComputeWarps * 32;  // threads
inline constexpr std::uint32_t kBlockThreads = kComputing + 32;
inline constexpr std::uint32_t kFewestSlots = 4;
inline constexpr std::uint32_t kMostSlots = 8;  // of a stage each; a multiple of kClusterBlocks
inline constexpr std::uint32_t kTileRowBytes = kTileImages * 2;

template <int kTerms>
inline constexpr std::uint32_t kRecordBytes = kTerms* kRecordTermBytes + sizeof(RecordTail);

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

struct Barriers {
  ClusterBarrier full[kMostSlots];   // the stage has arrived in this block
  ClusterBarrier ready[kMostSlots];  // in the block that copies: every other block has freed the
                                     // slot
};

// Hardware barriers of a block: 0 is that of __syncthreads().
inline constexpr std::uint32_t kComputingBarrier = 1, kEmptyBarrier = 2;  // + slot
static_assert(kEmptyBarrier + kMostSlots <= 16);

// The computing warps are done with a slot; they do not wait.
__device__ __forceinline__ void tell_empty(std::uint32_t slot) {
  asm volatile("bar.arrive %0, %1;" ::"r"(kEmptyBarrier + slot), "n"(kBlockThreads) : "memory");
}
// The copying warp waits until all of them are.
__device__ __forceinline__ void wait_until_empty(std::uint32_t slot) {
  asm volatile("bar.sync %0, %1;" ::"r"(kEmptyBarrier + slot), "n"(kBlockThreads) : "memory");
}

// Where a warp or the copying one is in the ring of slots.
struct Ring {
  std::uint32_t slots, slot = 0, parity = 0;

  __device__ void next() {
    if (++slot == slots) {
      slot = 0;
      parity ^= 1;
    }
  }
};

__device__ __forceinline__ std::uint32_t stages_of(std::uint32_t groups) {
  return (groups + kComputeWarps - 1) / kComputeWarps;
}

// What the copying warp does for one tile of images. `is_first`: the slots have never been used.
template <int kTerms>
__device__ inline void copy_stages(const MultilayerLaunch& a, unsigned char* stages,
                                   Barriers& barriers, Ring& ring, bool& is_first) {
  constexpr std::uint32_t kRecord = kRecordBytes<kTerms>;
  const std::uint32_t rank = rank_in_cluster();
  for (std::uint32_t l = 0; l < a.count; ++l) {
    const PackedLayerView layer = a.layers[l];
    for (std::uint32_t g = 0; g < layer.groups; g += kComputeWarps) {
      const std::uint32_t bytes = min(kComputeWarps, layer.groups - g) * kRecord;
      ClusterBarrier& full = barriers.full[ring.slot];
      const std::uint32_t copying = ring.slot % kClusterBlocks;
      if (!is_first) wait_until_empty(ring.slot);
      if (threadIdx.x % 32 == 0) {
        expect_bytes(full, bytes);
        if (copying != rank) {
          arrive_at(barriers.ready[ring.slot], copying);
        } else {
          wait_for(barriers.ready[ring.slot], ring.parity);
          copy_to_cluster(stages + ring.slot * kComputeWarps * kRecord,
                          layer.records + std::size_t{g} * kRecord, bytes, full,
                          (1u << kClusterBlocks) - 1);
        }
      }
      __syncwarp();
      ring.next();
      if (ring.slot == 0) is_first = false;
    }
  }
}

#endif

}  // namespace winnow::challenge
