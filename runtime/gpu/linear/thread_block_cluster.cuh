// A cluster of thread blocks that shares a tile of images, as ThreadBlock of
// runtime/sparse/resident_layers.cuh has one to itself: for so few images that a block a tile would
// leave most SMs idle.
#pragma once

#include <cstdint>

#include "runtime/device/cluster.cuh"
#include "runtime/sparse/resident_layers.cuh"

namespace winnow {

// Each block holds all activations and computes some outputs, which it stores in the shared memory
// of all. A block whose barrier has counted all bytes of a layer knows that all blocks have read
// its inputs too, so that outputs of the next layer may take their place.
class ThreadBlockCluster {
 public:
  // Steps fetched ahead: with few warps at work nobody else hides the latency of memory.
  static constexpr int kUnroll = 2 * kResidentUnroll;

  // `barriers`: two, used by turns.
  explicit __device__ __forceinline__ ThreadBlockCluster(ClusterBarrier* barriers)
      : barriers_(barriers), rank_(rank_in_cluster()), blocks_(blocks_in_cluster()) {
    if (threadIdx.x == 0) {
      init_barrier(barriers[0], kResidentWarps);
      init_barrier(barriers[1], kResidentWarps);
      publish_barriers();
    }
    meet_in_cluster();
  }

  __device__ __forceinline__ std::uint32_t rank() const { return rank_; }
  __device__ __forceinline__ std::uint32_t blocks() const { return blocks_; }
  __device__ __forceinline__ std::uint32_t warps() const { return blocks_ * kResidentWarps; }
  // Neighbouring slices are different blocks', which few slices too keep all at work.
  __device__ __forceinline__ std::uint32_t warp() const {
    return threadIdx.x / 32 * blocks_ + rank_;
  }

  // Every warp arrives, so that none, however little it has to do, falls two layers behind.
  __device__ __forceinline__ void begin_layer(std::uint32_t bytes) const {
    ClusterBarrier& barrier = barriers_[layer_ % 2];
    if (threadIdx.x == 0) {
      expect_bytes(barrier, bytes);
    } else if (threadIdx.x % 32 == 0) {
      arrive(barrier);
    }
  }
  __device__ __forceinline__ void begin_stores() const {}
  __device__ __forceinline__ void store(unsigned char* to, const uint4& value) const {
    const std::uint32_t address = shared_address(to);
    const std::uint32_t barrier = shared_address(barriers_ + layer_ % 2);
    for (std::uint32_t block = 0; block < blocks_; ++block) {
      store_in_cluster(address_in(address, block), value, address_in(barrier, block));
    }
  }
  __device__ __forceinline__ void end_layer(bool /*is_last*/) {
    wait_for(barriers_[layer_ % 2], layer_ / 2 % 2);
    __syncwarp();
    ++layer_;
  }
  __device__ __forceinline__ void end_tile() const { meet_in_cluster(); }

 private:
  ClusterBarrier* barriers_;
  std::uint32_t rank_, blocks_;
  std::uint32_t layer_ = 0;  // of all tiles
};

}  // namespace winnow
