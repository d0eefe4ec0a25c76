// The gathered convolution with a ring of stages (ring_tile.h, ring_weights.h).
//
// Each consumer warp multiplies the records of its group with input rows that lie in shared memory:
// ldmatrix gathers 16 rows, one for each column of a batch, at two pixels, mma multiplies them with
// the 16 x 16 weights of the batch. One more warp copies stages, in bulk or by its lanes: full[s]
// tells the consumers that stage s has arrived, empty[s] tells that warp that all of them have let
// go of it. Registers hold the weights of kDepth batches, loaded ahead.
#pragma once

#include <cuda.h>
#include <cuda_fp16.h>

#include "runtime/device/async_copy.cuh"
#include "runtime/device/barrier.cuh"
#include "runtime/device/overlap.cuh"
#include "runtime/gpu/gathered/fragments.cuh"
#include "runtime/gpu/gathered/ring_index.h"
#include "runtime/gpu/gathered/ring_tile.h"
#include "runtime/gpu/gathered/ring_weights.h"

namespace winnow {

// A form (ring_tile.h) with what follows from it. It may be held to fewer registers: those of fewer
// batches and pairs of pixels that are loaded ahead.
template <std::size_t kIndex, int kMostDepth = 4, int kMostAhead = 6>
struct CompiledForm {
  static constexpr RingForm kForm = kRingForms[kIndex];
  static constexpr int kHeight = kForm.height, kWidth = kForm.width, kWarps = kForm.warps;
  static constexpr int kDepth = kForm.depth < kMostDepth ? kForm.depth : kMostDepth;
  static constexpr int kAhead = kForm.ahead < kMostAhead ? kForm.ahead : kMostAhead;
  static constexpr int kPitch = kForm.pitch;
  static constexpr int kPairs = kHeight * kWidth / 2;
  static constexpr bool kCanPool = kHeight % 2 == 0 && kWidth % 2 == 0;
  static constexpr bool kHasSlices = kWarps == kSlicedWarps;
  static_assert(kHeight % 2 == 0 || (kHeight == 1 && kWidth % 2 == 0));
  static_assert(kAhead <= kPairs);
};

// Boxes copied by bulk tensor copies, which one thread begins.
struct RingBulkSource {
  static constexpr int kThreads = 1;
  static constexpr int kReleasingLanes = 1;  // of a consumer warp, for all of it
  static constexpr int kLeastArchitecture = 900;

  // Lets the barrier `full` wait for the tile's box of a block of channels, of the input or of what
  // is added, or for nothing if the block is negative.
  __device__ void copy(const RingArguments& a, const RingTileAt& at, int block, bool is_addend,
                       std::uint32_t to, std::uint32_t full) const {
    const std::uint32_t bytes = is_addend ? a.addend_bytes : a.stage_bytes;
    arrive_and_expect(full, block < 0 ? 0 : bytes);
    if (block < 0) return;
    const RingBoxAt box = is_addend ? addend_box_at(a, at, block) : box_at(a, at, block);
    asm volatile(
        "cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%2, %3, %4, %5}], [%6];" ::"r"(to),
        "l"(is_addend ? &addend : &in), "r"(0), "r"(box.x), "r"(box.y), "r"(box.map), "r"(full)
        : "memory");
  }

  CUtensorMap in, addend;
};

// Boxes copied by a warp, a pixel at a time: each lane has 16 of its 512 bytes.
struct RingThreadSource {
  static constexpr int kThreads = 32;
  // Each lane for itself: racecheck takes a lane that speaks for its warp for a race.
  static constexpr int kReleasingLanes = 32;
  static constexpr int kLeastArchitecture = 800;

  // As RingBulkSource::copy().
  __device__ void copy(const RingArguments& a, const RingTileAt& at, int block, bool is_addend,
                       std::uint32_t to, std::uint32_t full) const {
    if (block >= 0) {
      const RingBoxAt box = is_addend ? addend_box_at(a, at, block) : box_at(a, at, block);
      copy_box(is_addend ? addend : in, box, to + threadIdx.x % 32 * 16);
    }
    arrive_after_copies(full);
  }

  RingTensor in, addend;

 private:
  __device__ static void copy_box(const RingTensor from, const RingBoxAt& box, std::uint32_t to) {
    const auto* lane = static_cast<const uint4*>(from.data) + threadIdx.x % 32;
#pragma unroll 1
    for (int y = 0; y < from.box_height; ++y) {
#pragma unroll 4
      for (int x = 0; x < from.box_width; ++x, to += kStageChannels * kRowBytes) {
        const std::int64_t pixel = box_pixel(from.map, box, y, x);
        copy_or_zero(to, lane + (pixel < 0 ? 0 : pixel / kGatheredImages), pixel >= 0);
      }
    }
  }
};

// The threads that fill the ring.
template <class Source>
class RingProducer {
 public:
  __device__ RingProducer(const Source& source, const RingArguments& a, std::uint32_t shared)
      : source_(source), a_(a), shared_(shared) {}

  // All stages of all tiles of this thread block, by Source::kThreads threads.
  __device__ void run(int part, int first_tile, int tile_step, int tile_width) {
    const int begin = __ldg(a_.stage_begin + part), end = __ldg(a_.stage_begin + part + 1);
    const int addends = __ldg(a_.addend_begin + part);
    std::uint32_t copied = 0;
    for (int t = first_tile; t < a_.tiles; t += tile_step) {
      const RingTileAt at = tile_at(a_, t, tile_width);
#pragma unroll 1
      for (int s = begin; s < end; ++s, ++copied) {
        copy(at, __ldg(a_.stage_block + s), s >= addends, copied);
      }
    }
  }

 private:
  __device__ void copy(const RingTileAt& at, int block, bool is_addend, std::uint32_t copied) {
    const std::uint32_t slot = copied & a_.stage_mask;
    const std::uint32_t full = shared_ + a_.ring_bytes + slot * 8;
    const std::uint32_t empty = full + (a_.stage_mask + 1) * 8;
    if (copied > a_.stage_mask) wait_for(empty, (copied >> a_.stage_bits) - 1 & 1);
    source_.copy(a_, at, block, is_addend, shared_ + slot * a_.stage_bytes, full);
  }

  const Source& source_;
  const RingArguments& a_;
  std::uint32_t shared_;
};

template <class Form, class Source>
class RingConsumer {
 public:
  __device__ RingConsumer(const RingArguments& a, std::uint32_t shared, int part, int warp)
      : a_(a),
        shared_(shared),
        part_(part),
        group_(part * a.part_groups + warp / a.slices),
        slice_(warp % a.slices),
        lane_(lane_id()) {}

  __device__ void run(int first_tile, int tile_step) {
    begin_records();
    const int stages = __ldg(a_.stage_begin + part_ + 1) - __ldg(a_.stage_begin + part_);
    std::uint32_t slot = 0;  // of the tile's first stage
#pragma unroll 1
    for (int t = first_tile; t < a_.tiles; t += tile_step) {
      RingTileAt at = tile_at(a_, t, Form::kWidth);
      if constexpr (Form::kHasSlices) at.y += slice_ * Form::kHeight;
      begin_sums();
      const std::uint32_t slice = Form::kHasSlices ? slice_ * a_.slice_step : 0;
      compute(shared_ + slot * a_.stage_bytes + slice);
      if (a_.addend_bytes > 0) add_stages();
      if constexpr (Form::kCanPool) {
        a_.pool == RingPool::none ? store(at) : store_pooled(at);
      } else {
        store(at);
      }
      slot = slot + stages & a_.stage_mask;
    }
  }

 private:
  static constexpr int kDepth = Form::kDepth, kPairs = Form::kPairs, kAhead = Form::kAhead;
  static constexpr int kRecord = static_cast<int>(kRecordBytes);

  // Kept in registers: the compiler would compute it anew everywhere.
  __device__ static int lane_id() {
    int lane;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;
  }

  __device__ void begin_records() {
    const int batches = __ldg(a_.batches + group_);
    batches_ = batches;
    begin_ = static_cast<std::uint32_t>(group_ * a_.capacity * kRecord + lane_ * 16);
    end_ = begin_ + static_cast<std::uint32_t>(batches * kRecord);
    code_offset_ = kFragmentBytes + lane_ % kBatchColumns * 2 - lane_ * 16;
    next_ = begin_;
#pragma unroll
    for (int j = 0; j < kDepth; ++j) fetch(j);
    code_ = load_code(end_ - kRecord);
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
    next_ += kRecord;
    next_ = next_ == end_ ? begin_ : next_;
  }

  // Waits for as many stages as bits are set; lets go of them.
  __device__ void wait_for_stages(std::uint32_t bits) {
#pragma unroll 1
    for (bits &= 0xffff; bits != 0; bits &= bits - 1, ++arrived_) {
      wait_for(full_barrier(arrived_ & a_.stage_mask), arrived_ >> a_.stage_bits & 1);
    }
  }
  // All lanes have read what they need of them when those that release say so.
  __device__ void release_stages(std::uint32_t bits) {
    if ((bits &= 0xffff) == 0) return;
    if constexpr (Source::kReleasingLanes < 32) __syncwarp();
#pragma unroll 1
    for (; bits != 0; bits &= bits - 1, ++released_) {
      if (lane_ < Source::kReleasingLanes) {
        arrive(full_barrier(released_ & a_.stage_mask) + (a_.stage_mask + 1) * 8);
      }
    }
  }
  __device__ std::uint32_t full_barrier(std::uint32_t slot) const {
    return shared_ + a_.ring_bytes + slot * 8;
  }

  // From a slice's first pair of pixels to pair p.
  __device__ std::uint32_t offset_of_pair(int p) const {
    if constexpr (Form::kPitch > 0) {
      const RingPixel pixel = pixel_of(Form::kHeight, Form::kWidth, p, false);
      return (pixel.y * Form::kPitch + pixel.x) * 512;
    } else {
      return pair_offset(a_, Form::kHeight, Form::kWidth, p);
    }
  }

  __device__ void compute(std::uint32_t tile) {
    base_ = tile + lane_ / 16 * a_.pair_step;
    address_ = base_ + (code_ & kRowBits) * 16;
    wait_for_stages(__ballot_sync(~0u, code_ & kWaitBit));
#pragma unroll
    for (int p = 0; p < kAhead; ++p) load_matrices(rows_[p], address_ + offset_of_pair(p));

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

  // The rows of the next batch are loaded while the last products of this one run. A tile's last
  // batch loads its own again: the stages of the tile's first rows may be someone else's by now.
  __device__ void multiply_batch(int j, bool has_next) {
    const std::uint32_t next_code = codes_[j];
    const std::uint32_t next = has_next ? base_ + (next_code & kRowBits) * 16 : address_;
    const std::uint32_t waits = __ballot_sync(~0u, has_next && (next_code & kWaitBit) != 0);
    const std::uint32_t releases = __ballot_sync(~0u, code_ & kReleaseBit);
#pragma unroll
    for (int p = 0; p < kPairs; ++p) {
      if (p == kPairs - kAhead) wait_for_stages(waits);
      const int q = (p + kAhead) % kPairs;
      load_matrices(rows_[q], (p + kAhead < kPairs ? address_ : next) + offset_of_pair(q));
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

  // Elements to this lane's two images of the channel at `place`, in the first pixel of `at`.
  __device__ std::int64_t first_offset(const RingTileAt& at, int place) const {
    return channel_offset(a_.map, at.images, place) + std::int64_t{at.y} * a_.map.row +
           at.x * a_.map.column + lane_ % 4 * 2;
  }

  __device__ void begin_sums() {
#pragma unroll
    for (int p = 0; p < kPairs; ++p) {
#pragma unroll
      for (int i = 0; i < 8; ++i) sum_[p][i / 4][i % 4] = bias_[i % 4 / 2];
    }
  }

  __device__ void add_stages() {
    const int end = __ldg(a_.stage_begin + part_ + 1);
#pragma unroll 1
    for (int s = __ldg(a_.addend_begin + part_); s < end; ++s) add_stage(__ldg(a_.stage_block + s));
  }
  // Adds what lies in the next stage: of the lane's channels those of this block.
  __device__ void add_stage(int block) {
    wait_for_stages(1);
    constexpr int kSlice = Form::kHeight * Form::kWidth * kStageChannels * kRowBytes;
    const std::uint32_t stage =
        shared_ + (arrived_ - 1 & a_.stage_mask) * a_.stage_bytes + slice_ * kSlice;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const bool is_here = place_[half] >= 0 && place_[half] / kStageChannels == block;
      if (is_here) add_images(stage + addend_offset(place_[half]) + lane_ % 4 * 4, half);
    }
    release_stages(1);
  }
  __device__ __forceinline__ void add_images(std::uint32_t from, int half) {
#pragma unroll
    for (int y = 0; y < Form::kHeight; ++y) {
#pragma unroll
      for (int x = 0; x < Form::kWidth; ++x) {
        const float2 images = load_shared_images(from + addend_step(Form::kWidth, {y, x}));
        float(&sum)[4] = sum_of({y, x});
        sum[2 * half] += images.x;
        sum[2 * half + 1] += images.y;
      }
    }
  }

  // A warp writes 128 bytes of eight channels at a time, where they lie beside each other. Stores
  // have conditions of their own, since branches around them would cost more than they do.
  __device__ void store(const RingTileAt& at) {
    const int rows = a_.map.height - at.y, columns = a_.map.width - at.x;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      auto* to = static_cast<__half*>(a_.out) + first_offset(at, place_[half]);
#pragma unroll
      for (int y = 0; y < Form::kHeight; ++y, to += a_.map.row) {
        const int inside = place_[half] >= 0 && y < rows ? columns : 0;
#pragma unroll
        for (int x = 0; x < Form::kWidth; ++x) {
          const float(&sum)[4] = sum_of({y, x});
          store_images_if(x < inside, to + x * a_.map.column, at_least(sum[2 * half], a_.least),
                          at_least(sum[2 * half + 1], a_.least));
        }
      }
    }
  }
  __device__ __forceinline__ float (&sum_of(const RingPixel& pixel))[4] {
    const int pair = pair_of(Form::kHeight, Form::kWidth, pixel);
    return sum_[pair][is_second(Form::kHeight, Form::kWidth, pixel) ? 1 : 0];
  }

  // Maxima or averages of 2 x 2 pixels, all of which the thread has.
  __device__ void store_pooled(const RingTileAt& at) {
    const int rows = a_.map.height - at.y / 2, columns = a_.map.width - at.x / 2;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      auto* to = static_cast<__half*>(a_.out) +
                 first_offset({at.x / 2, at.y / 2, at.images}, place_[half]);
#pragma unroll
      for (int y = 0; y < Form::kHeight / 2; ++y, to += a_.map.row) {
        const int inside = place_[half] >= 0 && y < rows ? columns : 0;
#pragma unroll
        for (int x = 0; x < Form::kWidth / 2; ++x) {
          store_images_if(x < inside, to + x * a_.map.column, pooled_value({y, x}, 2 * half),
                          pooled_value({y, x}, 2 * half + 1));
        }
      }
    }
  }
  __device__ float pooled_value(const RingPixel& window, int k) {
    float values[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      values[i] = at_least(sum_of({2 * window.y + i / 2, 2 * window.x + i % 2})[k], a_.least);
    }
    return pooled(values, a_.pool == RingPool::average);
  }

  const RingArguments& a_;
  std::uint32_t shared_;
  int part_, group_, slice_, lane_, batches_ = 0;
  std::uint32_t begin_ = 0, end_ = 0, next_ = 0, code_offset_ = 0;
  std::uint32_t code_ = 0, base_ = 0, address_ = 0, arrived_ = 0, released_ = 0;
  float bias_[2];
  int place_[2];
  uint4 weights_[kDepth];
  std::uint32_t codes_[kDepth];
  Fragment rows_[kPairs];
  float sum_[kPairs][2][4];
};

// Threads of a block. Eight warps beside bulk copies get registers that three idle warps next to
// the copying one give up.
template <class Form, class Source>
constexpr bool kMovesRegisters = Source::kThreads == 1 && Form::kWarps == 8;
template <class Form, class Source>
constexpr int kRingThreads = kMovesRegisters<Form, Source> ? 384 : (Form::kWarps + 1) * 32;

// Registers of a thread, in groups of four warps; only for compute capability 9.0 exactly.
template <bool kMoves>
__device__ __forceinline__ void give_registers() {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  if constexpr (kMoves) asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
#endif
}
template <bool kMoves>
__device__ __forceinline__ void take_registers() {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  if constexpr (kMoves) asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
#endif
}

template <class Form, class Source>
__device__ __forceinline__ void run_ring(const Source& source, const RingArguments& a,
                                         std::uint32_t shared) {
  constexpr bool kMoves = kMovesRegisters<Form, Source>;
  constexpr int kFirstCopying = Form::kWarps * 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int part = part_of(a, static_cast<int>(blockIdx.x));
  const int first_tile = static_cast<int>(blockIdx.x) - a.part_begin[part];
  const int tile_step = a.part_begin[part + 1] - a.part_begin[part];
  const int groups = min(a.part_groups, a.groups - part * a.part_groups);
  const int consumers = groups * a.slices;
  begin_next_launch();
  if (threadIdx.x == kFirstCopying) {
    const std::uint32_t full = shared + a.ring_bytes;
    const std::uint32_t ring = a.stage_mask + 1;
    for (std::uint32_t s = 0; s < ring; ++s) {
      init_barrier(full + s * 8, Source::kThreads);
      init_barrier(full + (ring + s) * 8, consumers * Source::kReleasingLanes);
    }
    fence_barriers();
  }
  __syncthreads();
  if (warp >= Form::kWarps) {
    give_registers<kMoves>();
    if (threadIdx.x >= kFirstCopying + Source::kThreads) return;
    wait_for_launch_before();  // consumers follow it by way of full[s]
    RingProducer<Source>(source, a, shared).run(part, first_tile, tile_step, Form::kWidth);
  } else {
    take_registers<kMoves>();
    if (warp >= consumers) return;
    RingConsumer<Form, Source>(a, shared, part, warp).run(first_tile, tile_step);
  }
}

template <class Form, class Source>
__global__ void __launch_bounds__(kRingThreads<Form, Source>, 1)
    ring_kernel(const __grid_constant__ Source source, const __grid_constant__ RingArguments a) {
  extern __shared__ __align__(1024) unsigned char stages[];
#ifdef __CUDA_ARCH__
  if constexpr (__CUDA_ARCH__ >= Source::kLeastArchitecture) {
    run_ring<Form>(source, a, shared_address(stages));
  }
#endif
}

}  // namespace winnow
