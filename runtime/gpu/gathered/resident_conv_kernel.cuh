// The gathered convolution with a resident input (resident_tile.h, resident_weights.h).
//
// A thread block copies all input that it reads to shared memory, stage by stage; its warps begin
// with the batches whose stages have arrived. ldmatrix gathers 16 rows, one for each column of a
// batch, at two pixels, mma multiplies them with the 16 x 16 weights of the batch. A batch is done
// in two halves, so that the rows of one are loaded under the products of the other. Registers hold
// the weights of kDepth batches, loaded ahead, the first ones before the launch before has ended.
//
// Pixels of a strip beyond a narrow map read rows of other channels, which may be on their way:
// such sums are not stored. racecheck reports these reads.
#pragma once

#include "runtime/device/overlap.cuh"
#include "runtime/gpu/gathered/fragments.cuh"
#include "runtime/gpu/gathered/resident_arguments.h"
#include "runtime/gpu/gathered/resident_loader.cuh"
#include "runtime/gpu/gathered/resident_outputs.cuh"
#include "runtime/gpu/gathered/resident_task.cuh"

namespace winnow {

// One warp.
template <int kIndex>
class ResidentConsumer {
 public:
  __device__ ResidentConsumer(const ResidentArguments& a, std::uint32_t shared,
                              std::uint32_t barriers)
      : a_(a), shared_(shared), barriers_(barriers) {
    if constexpr (kForm.is_point()) {
      pair_bytes_ = worked_out_once(pair_row(form(), a.g, 1) * kRowBytes);
    }
  }

  // Begins to load weights, which no launch before has written.
  __device__ void begin(const ResidentTask& task) {
    const bool exists = task.warp.group < a_.g.all_groups;
    const int group = exists ? task.warp.group : 0;
    const int stream = resident_stream(a_.g, group, task.share);
    weights_at_ = a_.records + std::int64_t{stream} * (a_.capacity * kRecord);
    codes_at_ =
        weights_at_ + kFragmentBytes + (kHasRowsByLane ? task.lane * 4 : task.lane % 16 * 2);
    weights_at_ += task.lane * 16;
    asm volatile("" : "+l"(weights_at_), "+l"(codes_at_));  // else every batch has pointers
    for (int j = 0; j < kDepth; ++j) fetch(j, j);
    head_ = __ldg(a_.heads + stream);
    if (!exists) head_.w = 0;
    for (int half = 0; half < 2; ++half) {
      const int row = group * kGroupChannels + task.lane / 4 + 8 * half;
      channels_.bias[half] = __ldg(a_.bias + row);
      channels_.place[half] = exists ? __ldg(a_.place + row) : -1;
    }
  }

  // All passes; called by all warps of the thread block, also by those without a group.
  __device__ void run(ResidentTask task) {
    const int passes = form().is_map ? 1 : a_.g.passes;
#pragma unroll 1
    for (int pass = 0; pass < passes; ++pass) {
      if (pass > 0) {
        task = this_task_again<kIndex>(a_);
        begin(task);
        wait_for(barriers_ + (a_.g.stages + pass - 1) * 8, 0);
      }
      multiply_all(pass, task);
      finish_sums<kIndex>(a_, this_task_again<kIndex>(a_), channels_, shared_, sum_, pass);
    }
    if (a_.g.cluster > 1) {  // others may still read sums of this thread block
      __syncwarp();
      meet_in_cluster();
    }
  }

 private:
  __device__ static constexpr ResidentConvForm form() {
    return kResidentForms[kIndex];
  }
  static constexpr ResidentConvForm kForm = kResidentForms[kIndex];
  static constexpr int kPairs = kForm.pairs(), kDepth = kForm.depth;
  static constexpr int kWidth = kForm.pair_width();
  static constexpr int kRecord = resident_record_bytes(kForm);
  static constexpr bool kHasRowsByLane = has_rows_by_lane(kForm);

  // Where a batch reads: the address of the first pair of each set, and columns of pixels that it
  // leaves out.
  struct Batch {
    std::uint32_t address[2];
    bool skips[4];
  };

  __device__ void fetch(int j, int batch) {
    weights_[j] = __ldg(reinterpret_cast<const uint4*>(weights_at_ + batch * kRecord));
    const std::byte* code = codes_at_ + batch * kRecord;
    codes_[j] = kHasRowsByLane ? __ldg(reinterpret_cast<const std::uint32_t*>(code))
                               : __ldg(reinterpret_cast<const std::uint16_t*>(code));
  }

  __device__ Batch decode(std::uint32_t code) const {
    Batch batch;
    if constexpr (kHasRowsByLane) {
      batch.address[0] = shared_ + row_of_set(code, 0) * kRowBytes;
      batch.address[1] = shared_ + row_of_set(code, 1) * kRowBytes;
#pragma unroll
      for (int x = 0; x < kWidth; ++x) {
        if (may_skip(x)) batch.skips[x] = __any_sync(~0u, skips_column(code, x));
      }
    } else {
      batch.address[0] = base_ + code * kRowBytes;
    }
    return batch;
  }

  // The pairs of a half are chosen so that both are of use where a side of the map is left out: by
  // their columns of pixels, x. Those of points take turns.
  __device__ static constexpr int half_of(int x) {
    if (kForm.is_point()) return x % 2;
    if (!kForm.is_map) return x >= kWidth / 2 ? 1 : 0;
    return kWidth == 4 ? (x == 0 || x == 3 ? 1 : 0) : x;
  }
  __device__ static constexpr bool may_skip(int x) {
    return may_skip_column(form(), x);
  }

  template <int kHalf>
  __device__ void load(const Batch& batch) {
#pragma unroll
    for (int x = 0; x < kWidth; ++x) {
      if (half_of(x) != kHalf || (may_skip(x) && batch.skips[x % 4])) continue;
#pragma unroll
      for (int p = x; p < kPairs; p += kWidth) {
        const std::uint32_t step =
            kForm.is_point() ? p * pair_bytes_ : pair_row(form(), a_.g, p) * kRowBytes;
        load_matrices(rows_[p], batch.address[kHasRowsByLane ? p / kWidth : 0] + step);
      }
    }
  }
  template <int kHalf>
  __device__ void multiply_half(const Batch& batch, const uint4& weights) {
#pragma unroll
    for (int x = 0; x < kWidth; ++x) {
      if (half_of(x) != kHalf || (may_skip(x) && batch.skips[x % 4])) continue;
#pragma unroll
      for (int p = x; p < kPairs; p += kWidth) {
        multiply(sum_[p][0], weights, rows_[p].word[0], rows_[p].word[1]);
        multiply(sum_[p][1], weights, rows_[p].word[2], rows_[p].word[3]);
      }
    }
  }

  // Waits for the stages that batch b needs.
  __device__ void need(int b) {
    while (b >= until_ && stage_ < a_.g.stages - 1) {
      ++stage_;
      wait_for(barriers_ + stage_ * 8, 0);
      until_ = stage_ == a_.g.stages - 1 ? 0x7fffffff
                                         : (stage_ == 0   ? head_.x
                                            : stage_ == 1 ? head_.y
                                                          : head_.z);
    }
  }

  __device__ void multiply_all(int pass, const ResidentTask& task) {
    const int second = task.lane / kBatchColumns;
    base_ = shared_ + strip_row(form(), a_.g, task.warp.part, pass, second) * kRowBytes;
#pragma unroll
    for (int p = 0; p < kPairs; ++p) {
      for (int i = 0; i < 8; ++i) sum_[p][i / 4][i % 4] = 0;
    }
    stage_ = -1;
    until_ = -1;
    const int batches = head_.w;
    if (batches > 0) {
      need(0);
      Batch now = decode(codes_[0]);
      load<0>(now);
#pragma unroll 1
      for (int b = 0; b < batches; b += kDepth) {
#pragma unroll
        for (int j = 0; j < kDepth; ++j) {
          multiply_batch(b + j, j, now);
          if (b + j + 1 >= batches) break;
        }
      }
    }
    // No copy may be under way when shared memory is used again or the thread block ends.
    for (stage_ = stage_ < 0 ? 0 : stage_; stage_ < a_.g.stages; ++stage_) {
      wait_for(barriers_ + stage_ * 8, 0);
    }
  }

  // Batch b, which registers j have; `now` becomes the batch after it. Beyond the last batch there
  // are others' records or zeros: their rows are loaded and not multiplied.
  __device__ void multiply_batch(int b, int j, Batch& now) {
    load<1>(now);
    const Batch next = decode(codes_[(j + 1) % kDepth]);
    multiply_half<0>(now, weights_[j]);
    if (b + 1 >= until_) need(b + 1);
    load<0>(next);
    multiply_half<1>(now, weights_[j]);
    fetch(j, b + kDepth);
    now = next;
  }

  const ResidentArguments& a_;
  std::uint32_t shared_, barriers_;
  const std::byte *weights_at_ = nullptr, *codes_at_ = nullptr;  // the lane's, of batch 0
  int stage_ = -1, until_ = -1;
  int4 head_;
  ResidentChannels channels_;
  std::uint32_t pair_bytes_ = 0;  // from a pair of points to the next one
  std::uint32_t base_ = 0;
  uint4 weights_[kDepth];
  std::uint32_t codes_[kDepth];
  Fragment rows_[kPairs];
  float sum_[kPairs][2][4];
};

template <int kIndex>
__global__ void __launch_bounds__(kResidentForms[kIndex].warps * 32, 1)
    resident_conv_kernel(const __grid_constant__ ResidentArguments a) {
  extern __shared__ __align__(128) uint4 resident_input[];
  const std::uint32_t shared = shared_address(resident_input);
  const std::uint32_t barriers = shared + a.g.barriers_at();
  const ResidentTask task = this_task<kIndex>(a);
  ResidentLoader<kIndex> loader(a, task.at, resident_input, barriers);
  ResidentConsumer<kIndex> consumer(a, shared, barriers);
  begin_next_launch();
  consumer.begin(task);
  loader.prepare();
  loader.init_barriers();
  __syncthreads();
  wait_for_launch_before();
  loader.copy();
  loader.write_zeros();
  __syncthreads();
  consumer.run(task);
}

}  // namespace winnow
