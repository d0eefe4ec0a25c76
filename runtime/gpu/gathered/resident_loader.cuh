// How input comes to the shared memory of the gathered convolution with a resident input.
#pragma once

#include "runtime/device/async_copy.cuh"
#include "runtime/device/barrier.cuh"
#include "runtime/gpu/gathered/resident_arguments.h"
#include "runtime/gpu/gathered/resident_index.h"

namespace winnow {

// Copies the input of a thread block.
template <int kIndex>
class ResidentLoader {
 public:
  __device__ ResidentLoader(const ResidentArguments& a, const ResidentBlock& at, uint4* shared,
                            std::uint32_t barriers)
      : a_(a), at_(at), shared_(shared), barriers_(barriers) {}

  // Finds the first copy of the thread, while the launch before is still running.
  __device__ void prepare() {
    constexpr ResidentConvForm form = kResidentForms[kIndex];
    first_ = {0, 0, 0, -1};
    const int i = index_of_thread();
    if (a_.uses_bulk && i < copies_of_pass(form, a_.g, 0)) {
      first_ = resident_copy(form, a_.g, at_, 0, i);
    }
  }

  // By all threads; each lane of the last warp has a barrier.
  __device__ void init_barriers() const {
    constexpr ResidentConvForm form = kResidentForms[kIndex];
    const int b = static_cast<int>(threadIdx.x) - static_cast<int>(blockDim.x) + 32;
    if (b < 0 || b >= resident_barriers(a_.g)) return;
    const int copies = copies_of_barrier(form, a_.g, b);
    init_barrier(barriers_ + b * 8, a_.uses_bulk ? copies : static_cast<int>(blockDim.x));
    fence_barriers();
  }

  // By all threads, after init_barriers().
  __device__ void copy() const { a_.uses_bulk ? copy_all_in_bulk() : copy_by_threads(); }

  // What no copy writes.
  __device__ void write_zeros() const {
    constexpr ResidentConvForm form = kResidentForms[kIndex];
    const uint4 zeros = make_uint4(0, 0, 0, 0);
    if (form.is_map) {
      for (int row = threadIdx.x; row < a_.g.zero_rows; row += blockDim.x) shared_[row] = zeros;
      return;
    }
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, warps = blockDim.x / 32;
#pragma unroll 1
    for (int line = warp; line < a_.g.rank_blocks * a_.g.lines; line += warps) {
      const bool has_input = has_input_line(a_.g, at_, remainder(line, a_.g.by_lines));
#pragma unroll 1
      for (int i = 0; i < zero_pixels(a_.g, has_input); ++i) {
        shared_[line * a_.g.line_rows() + zero_pixel(a_.g, has_input, i) * 32 + lane] = zeros;
      }
    }
  }

 private:
  // The copies of a stage are spread over all warps, so that stages arrive in order.
  __device__ static int index_of_thread() {
    const int warps = static_cast<int>(blockDim.x / 32);
    return static_cast<int>(threadIdx.x / 32) + static_cast<int>(threadIdx.x % 32) * warps;
  }

  __device__ void copy_all_in_bulk() const {
    constexpr ResidentConvForm form = kResidentForms[kIndex];
    copy_piece(first_);
    const int passes = form.is_map ? 1 : a_.g.passes;
#pragma unroll 1
    for (int pass = 0; pass < passes; ++pass) {
      const int copies = copies_of_pass(form, a_.g, pass);
      const int done = pass == 0 ? static_cast<int>(blockDim.x) : 0;
#pragma unroll 1
      for (int i = index_of_thread() + done; i < copies; i += static_cast<int>(blockDim.x)) {
        copy_piece(resident_copy(form, a_.g, at_, pass, i));
      }
    }
  }
  __device__ void copy_piece(const ResidentCopy& copy) const {
    if (copy.barrier < 0) return;
    const std::uint32_t barrier = barriers_ + copy.barrier * 8, bytes = copy.rows * kRowBytes;
    arrive_and_expect(barrier, bytes);
    if (bytes > 0) copy_in_bulk(shared_address(shared_ + copy.to), source(copy), bytes, barrier);
  }

  __device__ void copy_by_threads() const {
    constexpr ResidentConvForm form = kResidentForms[kIndex];
    int barrier = 0;
    for (int pass = 0; pass < a_.g.passes; ++pass) {
      const int copies = copies_of_pass(form, a_.g, pass);
      for (int i = 0; i < copies; ++i) {
        const ResidentCopy copy = resident_copy(form, a_.g, at_, pass, i);
        for (; barrier < copy.barrier; ++barrier) arrive_after_copies(barriers_ + barrier * 8);
        for (int row = threadIdx.x; row < copy.rows; row += blockDim.x) {
          copy_to_shared(shared_ + copy.to + row, source(copy) + row);
        }
      }
    }
    for (; barrier < resident_barriers(a_.g); ++barrier) {
      arrive_after_copies(barriers_ + barrier * 8);
    }
  }

  __device__ const uint4* source(const ResidentCopy& copy) const {
    return reinterpret_cast<const uint4*>(a_.in) + copy.from;
  }

  const ResidentArguments& a_;
  ResidentBlock at_;
  uint4* shared_;
  std::uint32_t barriers_;
  ResidentCopy first_;
};

}  // namespace winnow
