// Threads of a thread block that bring tiles into shared memory and take their live images out
// again, while the others compute (resident_kernel.cu).
#pragma once

#include <cstdint>

#include "runtime/challenge/engines/fused/resident_kernel.h"
#include "runtime/challenge/engines/fused/tile_buffers.h"
#include "runtime/device/async_copy.cuh"
#include "runtime/device/barrier.cuh"
#include "runtime/sparse/resident_layers.cuh"

namespace winnow::challenge {

inline constexpr std::uint32_t kMoverThreads = 128;  // behind those that compute

// How a tile comes in.
enum class Input {
  activations,
  images,  // bits that become activations
  bits,    // which the first layer reads as such: less of shared memory's time
};

// What the mover and the threads that compute tell each other; in shared memory. The tiles of a
// block take turns with the two of each.
struct TileSignals {
  std::uint64_t loaded[2];    // all threads that move arrive
  std::uint64_t computed[2];  // all threads that compute arrive
  std::uint32_t live[2];      // bit per image of the tile, 0 before it is computed
  std::uint32_t first_place;  // for the tile's live images; among those that move

  // One thread of the block.
  __device__ __forceinline__ void init() {
    for (int i = 0; i < 2; ++i) {
      init_barrier(shared_address(&loaded[i]), kMoverThreads);
      init_barrier(shared_address(&computed[i]), kResidentThreads);
      live[i] = 0;
    }
    fence_barriers();
  }
};

// The n-th tile of this block, as a barrier counts.
struct TileTurn {
  std::uint32_t slot, parity;
  explicit __device__ __forceinline__ TileTurn(std::uint32_t n) : slot(n % 2), parity(n / 2 % 2) {}
};

template <typename T, int R, Input kInput>
class TileMover {
 public:
  __device__ __forceinline__ TileMover(const ResidentLaunch& a, unsigned char* memory,
                                       TileSignals& signals)
      : a_(a), memory_(memory), signals_(signals), thread_(threadIdx.x - kResidentThreads) {}

  // All tiles of this block.
  __device__ __forceinline__ void run() const {
    const std::uint32_t images = *a_.in.count, layers = a_.last_layer - a_.first_layer;
    TileBuffers buffers(a_.has_three_buffers);
    load(0, images, buffers.in());
    if (buffers.tiles_at_once() > 1) load(1, images, buffers.next());
    for (std::uint32_t n = 0; tile_at(n) * R < images; ++n) {
      const TileTurn turn(n);
      buffers.advance(layers);
      wait_for(shared_address(&signals_.computed[turn.slot]), turn.parity);
      store(tile_at(n), live_of(turn, images - tile_at(n) * R),
            reinterpret_cast<const T*>(at(buffers.next())));
      meet();
      if (thread_ == 0) signals_.live[turn.slot] = 0;
      load(n + buffers.tiles_at_once(), images, buffers.next());
    }
  }

 private:
  static constexpr std::uint32_t kAtOnce = 8;  // loads of a thread
  static constexpr std::uint32_t kReadsAtOnce = 16;

  // All threads that move.
  static __device__ __forceinline__ void meet() {
    asm volatile("bar.sync 2, %0;" ::"n"(kMoverThreads) : "memory");
  }
  static __device__ __forceinline__ std::uint32_t tile_at(std::uint32_t n) {
    return blockIdx.x + n * gridDim.x;
  }
  __device__ __forceinline__ unsigned char* at(std::uint32_t buffer) const {
    return memory_ + buffer * a_.rows * ResidentRow<T, R>::kBytes;
  }

  // The tile's live images, of so many that there are from its first one on.
  __device__ __forceinline__ std::uint32_t live_of(const TileTurn& turn,
                                                   std::uint32_t images) const {
    const std::uint32_t live = signals_.live[turn.slot];
    return images < R ? live & ((1u << images) - 1) : live;
  }

  // Begins to bring the n-th tile, if there is one, and arrives.
  __device__ __forceinline__ void load(std::uint32_t n, std::uint32_t images,
                                       std::uint32_t buffer) const {
    if (tile_at(n) * R >= images) return;
    const std::uint32_t loaded = shared_address(&signals_.loaded[n % 2]);
    if constexpr (kInput == Input::activations) {
      load_activations(tile_at(n), at(buffer), loaded);
    } else {
      load_bits(tile_at(n), at(buffer));
      arrive(loaded);
    }
  }

  __device__ __forceinline__ void load_activations(std::uint32_t tile, unsigned char* x,
                                                   std::uint32_t loaded) const {
    const std::uint32_t bytes = a_.rows * ResidentRow<T, R>::kBytes;
    const auto* from = static_cast<const unsigned char*>(a_.in.data) + std::size_t{tile} * bytes;
#if __CUDA_ARCH__ >= 900
    if (thread_ == 0) {
      fence_for_bulk_copies();
      arrive_and_expect(loaded, bytes);
      copy_in_bulk(shared_address(x), from, bytes, loaded);
    } else {
      arrive(loaded);
    }
#else
    for (std::uint32_t i = thread_ * 16; i < bytes; i += kMoverThreads * 16) {
      copy_to_shared(x + i, from + i);
    }
    arrive_after_copies(loaded);
#endif
  }

  // A word of a row's images, or an activation of 0 or 1 for each.
  __device__ __forceinline__ void load_bits(std::uint32_t tile, unsigned char* x) const {
    const std::uint32_t* from = a_.in.bits + std::size_t{tile} * R / 32 * a_.in.inputs;
    const std::uint32_t shift = tile * R % 32;
    for (std::uint32_t first = thread_; first < a_.rows; first += kMoverThreads * kAtOnce) {
      std::uint32_t word[kAtOnce];
#pragma unroll
      for (std::uint32_t k = 0; k < kAtOnce; ++k) {
        const std::uint32_t row = first + k * kMoverThreads;
        word[k] = row < a_.in.inputs ? __ldg(from + row) >> shift : 0;
      }
#pragma unroll
      for (std::uint32_t k = 0; k < kAtOnce; ++k) {
        if (first + k * kMoverThreads < a_.rows) store_word(first + k * kMoverThreads, word[k], x);
      }
    }
  }
  static __device__ __forceinline__ void store_word(std::uint32_t row, std::uint32_t word,
                                                    unsigned char* x) {
    if constexpr (kInput == Input::bits) {
      reinterpret_cast<std::uint32_t*>(x)[row] = word;
    } else {
#pragma unroll
      for (int i = 0; i < R; ++i) {
        reinterpret_cast<T*>(x)[row * R + i] = static_cast<T>(static_cast<float>(word >> i & 1));
      }
    }
  }

  // The live images of the tile to consecutive places behind those of other blocks.
  __device__ __forceinline__ void store(std::uint32_t tile, std::uint32_t live, const T* y) const {
    if (thread_ == 0) signals_.first_place = atomicAdd(a_.out.count, __popc(live));
    meet();
    const std::uint32_t image = thread_ % R;
    if ((live >> image & 1) == 0) return;
    const std::uint32_t place = signals_.first_place + __popc(live & ((1u << image) - 1));
    if (thread_ < R) store_id(tile * R + image, place);
    if (a_.out.data == nullptr) return;
    if (a_.out.form.is_half) {
      store_image(static_cast<__half*>(a_.out.data), place, image, y);
    } else {
      store_image(static_cast<float*>(a_.out.data), place, image, y);
    }
  }
  __device__ __forceinline__ void store_id(std::uint32_t number, std::uint32_t place) const {
    const std::uint32_t id = a_.in.id == nullptr ? number : a_.in.id[number];
    if (a_.out.id != nullptr) a_.out.id[place] = id;
    if (a_.out.live_bits != nullptr) atomicOr(a_.out.live_bits + id / 32, 1u << id % 32);
  }
  // Rows are read some at a time, since shared memory, which the threads that compute keep busy,
  // takes its time to answer. Threads that store a row each time they have read one are slower than
  // those that compute a layer.
  template <typename To>
  __device__ __forceinline__ void store_image(To* to, std::uint32_t place, std::uint32_t image,
                                              const T* y) const {
    const auto width = static_cast<std::uint32_t>(a_.out.form.images);  // a power of 2
    constexpr std::uint32_t kRows = kMoverThreads / R;  // that threads have at a time
    to += (std::size_t{place / width} * a_.rows + thread_ / R) * width + place % width;
    for (std::uint32_t row = thread_ / R; row < a_.rows; row += kRows * kReadsAtOnce) {
      To value[kReadsAtOnce];
#pragma unroll
      for (std::uint32_t k = 0; k < kReadsAtOnce; ++k) {
        value[k] = static_cast<To>(y[min(row + k * kRows, a_.rows - 1) * R + image]);
      }
      __syncwarp(__activemask());  // the compiler keeps all reads before it, writes behind it
#pragma unroll
      for (std::uint32_t k = 0; k < kReadsAtOnce; ++k) {
        if (row + k * kRows < a_.rows) to[k * kRows * width] = value[k];
      }
      to += kReadsAtOnce * kRows * width;
    }
  }

  const ResidentLaunch& a_;
  unsigned char* memory_;
  TileSignals& signals_;
  std::uint32_t thread_;
};

}  // namespace winnow::challenge
