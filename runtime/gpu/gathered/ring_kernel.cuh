// The gathered convolution with a ring of stages (ring_tile.h, ring_weights.h).
//
// Each consumer warp multiplies the records of its group with input rows that lie in shared memory:
// ldmatrix gathers 16 rows, one for each column of a batch, at two pixels, mma multiplies them with
// the 16 x 16 weights of the batch. One more warp copies stages: full[s] tells the consumers that
// stage s has arrived, empty[s] tells that warp that all of them have let go of it. Registers hold
// the weights of kDepth batches, loaded ahead.
#pragma once

#include <cuda.h>
#include <cuda_fp16.h>

#include "runtime/gpu/gathered/barrier.cuh"
#include "runtime/gpu/gathered/fragments.cuh"
#include "runtime/gpu/gathered/ring_arguments.h"

namespace winnow {

// What a kernel is compiled for.
//   kHeight x kWidth  output pixels of a tile; kHeight even, or 1 and kWidth even
//   kGroups           consumer warps
//   kStages           of the ring, a power of 2
//   kDepth            batches whose weights are in registers
//   kAhead            pairs of pixels that are loaded before their products
//   kPitch            input pixels of a row of the box, if its strides are 1; 0: any
template <int kHeight_, int kWidth_, int kGroups_, int kStages_, int kDepth_, int kAhead_,
          int kPitch_>
struct RingForm {
  static constexpr int kHeight = kHeight_, kWidth = kWidth_, kGroups = kGroups_;
  static constexpr int kStages = kStages_, kDepth = kDepth_, kAhead = kAhead_, kPitch = kPitch_;
  static constexpr bool kPairsRows = kHeight % 2 == 0;  // a pair: pixels of two rows, or of one
  static constexpr int kPairs = kHeight * kWidth / 2;
  static constexpr int kPairWidth = kPairsRows ? kWidth : kWidth / 2;
  // Eight warps get registers that three idle warps beside the copying one give up.
  static constexpr bool kMovesRegisters = kGroups == 8;
  static constexpr int kThreads = kMovesRegisters ? 384 : (kGroups + 1) * 32;
  static_assert(kPairsRows || (kHeight == 1 && kWidth % 2 == 0));
  static_assert((kStages & (kStages - 1)) == 0 && kAhead <= kPairs);
};

// Where a thread block works: groups of output channels that stay, tiles that change.
struct RingTileAt {
  int x, y, images;  // first output pixel, block of eight images
};
__device__ __forceinline__ RingTileAt tile_at(const RingArguments& a, int tile, int height,
                                              int width) {
  return {tile % a.tiles_x * width, tile / a.tiles_x % a.tiles_y * height,
          tile / (a.tiles_x * a.tiles_y)};
}

template <class Form>
class RingProducer {
 public:
  __device__ RingProducer(const CUtensorMap& map, const RingArguments& a, std::uint32_t shared)
      : map_(map), a_(a), shared_(shared) {}

  // All stages of all tiles of this thread block, by one thread.
  __device__ void run(int part, int first_tile, int tile_step) {
    const int begin = __ldg(a_.stage_begin + part), end = __ldg(a_.stage_begin + part + 1);
    std::uint32_t copied = 0;
    for (int t = first_tile; t < a_.tiles; t += tile_step) {
      const RingTileAt at = tile_at(a_, t, Form::kHeight, Form::kWidth);
#pragma unroll 1
      for (int s = begin; s < end; ++s, ++copied) copy(at, __ldg(a_.stage_block + s), copied);
    }
  }

 private:
  __device__ void copy(const RingTileAt& at, int block, std::uint32_t copied) {
    constexpr std::uint32_t kStages = Form::kStages;
    const std::uint32_t slot = copied % kStages;
    const std::uint32_t full = shared_ + kStages * a_.stage_bytes + slot * 8;
    const std::uint32_t empty = full + kStages * 8;
    if (copied >= kStages) wait_for(empty, copied / kStages - 1 & 1);
    arrive_and_expect(full, block < 0 ? 0 : a_.stage_bytes);
    if (block < 0) return;
    asm volatile(
        "cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%2, %3, %4, %5}], [%6];" ::"r"(shared_ + slot * a_.stage_bytes),
        "l"(&map_), "r"(0), "r"(at.x * a_.stride_x - a_.padding_x),
        "r"(at.y * a_.stride_y - a_.padding_y), "r"(at.images * a_.input_blocks + block), "r"(full)
        : "memory");
  }

  const CUtensorMap& map_;
  const RingArguments& a_;
  std::uint32_t shared_;
};

template <class Form>
class RingConsumer {
 public:
  __device__ RingConsumer(const RingArguments& a, std::uint32_t shared, int group, int stages)
      : a_(a), shared_(shared), group_(group), stages_(stages), lane_(lane_id()) {}

  __device__ void run(int first_tile, int tile_step) {
    begin_records();
    std::uint32_t slot = 0;  // of the tile's first stage
#pragma unroll 1
    for (int t = first_tile; t < a_.tiles; t += tile_step) {
      compute(shared_ + slot * a_.stage_bytes);
      store(tile_at(a_, t, Form::kHeight, Form::kWidth));
      slot = (slot + stages_) % Form::kStages;
    }
  }

 private:
  static constexpr int kDepth = Form::kDepth, kPairs = Form::kPairs, kAhead = Form::kAhead;

  // Kept in registers: the compiler would compute it anew everywhere.
  __device__ static int lane_id() {
    int lane;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;
  }

  __device__ void begin_records() {
    const int batches = __ldg(a_.batches + group_);
    batches_ = batches;
    begin_ = static_cast<std::uint32_t>(group_ * a_.capacity * 544 + lane_ * 16);
    end_ = begin_ + static_cast<std::uint32_t>(batches * 544);
    code_offset_ = 512 + lane_ % 16 * 2 - lane_ * 16;
    next_ = begin_;
#pragma unroll
    for (int j = 0; j < kDepth; ++j) fetch(j);
    code_ = load_code(end_ - 544);
    const int row = lane_ / 4;
    bias_[0] = __ldg(a_.bias + group_ * 16 + row);
    bias_[1] = __ldg(a_.bias + group_ * 16 + row + 8);
    place_[0] = __ldg(a_.place + group_ * 16 + row);
    place_[1] = __ldg(a_.place + group_ * 16 + row + 8);
  }

  __device__ std::uint32_t load_code(std::uint32_t record) const {
    return __ldg(reinterpret_cast<const std::uint16_t*>(a_.records + (record + code_offset_)));
  }
  __device__ void fetch(int j) {
    weights_[j] = __ldg(reinterpret_cast<const uint4*>(a_.records + next_));
    codes_[j] = load_code(next_);
    next_ += 544;
    next_ = next_ == end_ ? begin_ : next_;
  }

  // Waits for as many stages as bits are set.
  __device__ void wait_for_stages(std::uint32_t bits) {
#pragma unroll 1
    for (bits &= 0xffff; bits != 0; bits &= bits - 1, ++arrived_) {
      wait_for(full_barrier(arrived_ % Form::kStages), arrived_ / Form::kStages & 1);
    }
  }
  __device__ void release_stages(std::uint32_t bits) {
#pragma unroll 1
    for (bits &= 0xffff; bits != 0; bits &= bits - 1, ++released_) {
      if (lane_ == 0) arrive(full_barrier(released_ % Form::kStages) + Form::kStages * 8);
    }
  }
  __device__ std::uint32_t full_barrier(std::uint32_t slot) const {
    return shared_ + Form::kStages * a_.stage_bytes + slot * 8;
  }

  // From a tile's first pair of pixels to pair p.
  __device__ std::uint32_t pair_offset(int p) const {
    if constexpr (Form::kPitch > 0) {
      return (p / Form::kPairWidth * Form::kPitch + p % Form::kPairWidth) * 512;
    } else {
      return p / Form::kPairWidth * a_.row_step + p % Form::kPairWidth * a_.column_step;
    }
  }

  __device__ void compute(std::uint32_t tile) {
#pragma unroll
    for (int p = 0; p < kPairs; ++p) {
#pragma unroll
      for (int i = 0; i < 8; ++i) sum_[p][i / 4][i % 4] = bias_[i % 4 / 2];
    }
    base_ = tile + lane_ / 16 * a_.pair_step;
    address_ = base_ + (code_ & 0x3fff) * 16;
    wait_for_stages(__ballot_sync(~0u, code_ & 0x4000));
#pragma unroll
    for (int p = 0; p < kAhead; ++p) load_matrices(rows_[p], address_ + pair_offset(p));

    int left = batches_, turned = 0;
#pragma unroll 1
    do {
#pragma unroll
      for (int j = 0; j < kDepth; ++j) {
        --left;
        multiply_batch(j, left > 0);
        if (left == 0) {
          turned = (j + 1) % kDepth;
          break;
        }
      }
    } while (left > 0);
    turn_registers(turned);
  }

  // The rows of the next batch are loaded while the last products of this one run.
  __device__ void multiply_batch(int j, bool has_next) {
    const std::uint32_t next_code = codes_[j], next = base_ + (next_code & 0x3fff) * 16;
    const std::uint32_t waits = __ballot_sync(~0u, has_next && (next_code & 0x4000) != 0);
    const std::uint32_t releases = __ballot_sync(~0u, code_ & 0x8000);
#pragma unroll
    for (int p = 0; p < kPairs; ++p) {
      if (p == kPairs - kAhead) wait_for_stages(waits);
      const int q = (p + kAhead) % kPairs;
      load_matrices(rows_[q], (p + kAhead < kPairs ? address_ : next) + pair_offset(q));
      multiply(sum_[p][0], weights_[j], rows_[p].word[0], rows_[p].word[1]);
      multiply(sum_[p][1], weights_[j], rows_[p].word[2], rows_[p].word[3]);
    }
    release_stages(releases);
    fetch(j);
    address_ = next;
    code_ = next_code;
  }

  // The registers take turns batch by batch; what a tile's end leaves out of turn is put right
  // here, since every move would wait for its load.
  __device__ void turn_registers(int turned) {
#pragma unroll 1
    for (; turned > 0; --turned) {
      const uint4 weights = weights_[0];
      const std::uint32_t code = codes_[0];
#pragma unroll
      for (int j = 0; j + 1 < kDepth; ++j) {
        weights_[j] = weights_[j + 1];
        codes_[j] = codes_[j + 1];
      }
      weights_[kDepth - 1] = weights;
      codes_[kDepth - 1] = code;
    }
  }

  // A warp writes 128 bytes of eight channels at a time, where they lie beside each other.
  __device__ void store(const RingTileAt& at) const {
    const std::int64_t block = std::int64_t{a_.height} * a_.width * 256;
    const std::int64_t pixel =
        std::int64_t{at.images} * a_.output_blocks * block + (at.y * a_.width + at.x) * 256;
    const bool is_whole = at.x + Form::kWidth <= a_.width;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int place = place_[half];
      if (place < 0) continue;
      __half* const out = a_.out + pixel + place / 32 * block + place % 32 * 8 + lane_ % 4 * 2;
#pragma unroll
      for (int second = 0; second < 2; ++second) {
#pragma unroll
        for (int y = 0; y < kPairs / Form::kPairWidth; ++y) {
          const int row = y + (Form::kPairsRows ? second * (Form::kHeight / 2) : 0);
          if (at.y + row < a_.height) store_row(out, at, half, second, y, row, is_whole);
        }
      }
    }
  }
  __device__ void store_row(__half* out, const RingTileAt& at, int half, int second, int y, int row,
                            bool is_whole) const {
    const int first = Form::kPairsRows ? 0 : second * (Form::kWidth / 2);
    __half* const to = out + row * a_.width * 256;
#pragma unroll
    for (int i = 0; i < Form::kPairWidth; ++i) {
      const int x = first + i;
      const float* const sum = sum_[y * Form::kPairWidth + i][second] + 2 * half;
      if (is_whole || at.x + x < a_.width) {
        store_images(to + x * 256, at_least(sum[0], a_.least), at_least(sum[1], a_.least));
      }
    }
  }

  const RingArguments& a_;
  std::uint32_t shared_;
  int group_, stages_, lane_, batches_ = 0;
  std::uint32_t begin_ = 0, end_ = 0, next_ = 0, code_offset_ = 0;
  std::uint32_t code_ = 0, base_ = 0, address_ = 0, arrived_ = 0, released_ = 0;
  float bias_[2];
  int place_[2];
  uint4 weights_[kDepth];
  std::uint32_t codes_[kDepth];
  Fragment rows_[kPairs];
  float sum_[kPairs][2][4];
};

// Registers of a thread, in groups of four warps; only for compute capability 9.0 exactly.
template <class Form>
__device__ __forceinline__ void give_registers() {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  if constexpr (Form::kMovesRegisters) asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
#endif
}
template <class Form>
__device__ __forceinline__ void take_registers() {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  if constexpr (Form::kMovesRegisters) asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
#endif
}

template <class Form>
__global__ void __launch_bounds__(Form::kThreads, 1)
    ring_kernel(const __grid_constant__ CUtensorMap map, const __grid_constant__ RingArguments a) {
#if __CUDA_ARCH__ >= 900
  extern __shared__ __align__(1024) unsigned char stages[];
  const std::uint32_t shared = shared_address(stages);
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int part = static_cast<int>(blockIdx.x) % a.parts;  // of the output channels
  const int first_tile = static_cast<int>(blockIdx.x) / a.parts;
  const int tile_step = static_cast<int>(gridDim.x) / a.parts;
  const int groups = min(Form::kGroups, a.groups - part * Form::kGroups);
  asm volatile("griddepcontrol.launch_dependents;");
  if (threadIdx.x == Form::kGroups * 32) {
    const std::uint32_t full = shared + Form::kStages * a.stage_bytes;
    for (int s = 0; s < Form::kStages; ++s) {
      init_barrier(full + s * 8, 1);
      init_barrier(full + (Form::kStages + s) * 8, groups);
    }
    fence_barriers();
  }
  __syncthreads();
  if (warp >= Form::kGroups) {
    give_registers<Form>();
    if (threadIdx.x != Form::kGroups * 32) return;
    asm volatile("griddepcontrol.wait;" ::: "memory");
    RingProducer<Form>(map, a, shared).run(part, first_tile, tile_step);
  } else {
    take_registers<Form>();
    if (warp >= groups) return;
    const int stages_of_tile = __ldg(a.stage_begin + part + 1) - __ldg(a.stage_begin + part);
    RingConsumer<Form>(a, shared, part * Form::kGroups + warp, stages_of_tile)
        .run(first_tile, tile_step);
  }
#endif
}

}  // namespace winnow
