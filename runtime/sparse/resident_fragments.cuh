// A slice of resident_layers.cuh by tensor cores: 8 outputs, whose inputs ldmatrix gathers
// (fragment_order.h). Activations are fp16, R images to a row.
//
// FMAs on fp16 activations spend as many instructions on conversion as on sums; here nothing is
// converted before the epilogue.
#pragma once

#include <cstdint>

#include "runtime/sparse/fragment_order.h"
#include "runtime/sparse/resident_layers.cuh"

namespace winnow {

// A lane's registers of matrix B: 32 slots x 8 images.
struct FragmentInputs {
  std::uint32_t word[4];
};

// Four 8 x 8 matrices, transposed: the lane has the address of row lane % 8 of matrix lane / 8.
__device__ __forceinline__ FragmentInputs gather_slots(std::uint32_t address) {
  FragmentInputs in;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(in.word[0]), "=r"(in.word[1]), "=r"(in.word[2]), "=r"(in.word[3])
               : "r"(address)
               : "memory");
  return in;
}

// sum[16 rows][8 images] += weights x inputs. `places`: which 2 of 4 columns a row's weights are.
__device__ __forceinline__ void add_product(const std::uint32_t (&weight)[4],
                                            const FragmentInputs& in, std::uint32_t places,
                                            float (&sum)[4]) {
  asm("mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9, %10, %11}, {%0, %1, %2, %3}, %12, 0x0;"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(weight[0]), "r"(weight[1]), "r"(weight[2]), "r"(weight[3]), "r"(in.word[0]),
        "r"(in.word[1]), "r"(in.word[2]), "r"(in.word[3]), "r"(places));
}

// What ResidentStream is for FMAs.
template <int R, int kUnroll = kResidentUnroll>
class FragmentStream {
 public:
  using Row = ResidentRow<__half, R>;
  static constexpr std::uint32_t kOutputs = kFragmentOutputs;  // of a slice

  // Of output lane / 4, by chunk in the order of its turn: images 2 (lane % 4) and the next by the
  // rounded weights, then the same by what rounding left.
  struct Sums {
    float of[Row::kChunks][4] = {};
  };

  __device__ __forceinline__ FragmentStream(const ResidentView& weights, std::uint32_t first_layer,
                                            std::uint32_t warp)
      : at_(weights, first_layer, warp),
        product_(fragment_product(lane())),
        turn_(fragment_turn(fragment_slot(lane(), 0).output, Row::kChunks) * 16),
        places_(lane() / 4 % 2 == 0 ? 0x44444444u : 0xeeeeeeeeu) {
    static_assert(Row::kChunks <= 2, "the turn of a lane's slots is the same in all products");
#pragma unroll
    for (int q = 0; q < kUnroll; ++q) fetch(q);
  }

  __device__ __forceinline__ void take_slice(std::uint32_t& steps, float& bias) {
    at_.take_slice(steps, bias);
  }

  // Adds `steps` steps, a multiple of kUnroll, with the activations at x.
  __device__ __forceinline__ void add(std::uint32_t steps, const unsigned char* x, Sums& sums) {
    const auto rows_at = static_cast<std::uint32_t>(__cvta_generic_to_shared(x)) + turn_;
#pragma unroll 1
    for (std::uint32_t k = 0; k < steps; k += kUnroll) {
#pragma unroll
      for (int q = 0; q < kUnroll; ++q) {
        const uint2 rows = rows_[q];
        const uint4 weights = weights_[q];
        fetch(q);
        add_step(rows, weights, rows_at, sums);
      }
    }
  }

  // As ResidentStream::finish().
  template <typename Threads, typename Epilogue>
  __device__ __forceinline__ std::uint32_t finish(Threads& threads, const Epilogue& epilogue,
                                                  float bias, std::uint32_t slice, Sums& sums,
                                                  unsigned char* y) const {
    const std::uint32_t output = lane() / 4, image = lane() % 4 * 2;
    unsigned char* row = y + (slice * kOutputs + output) * Row::kBytes;
    std::uint32_t above = 0;
#pragma unroll
    for (int j = 0; j < Row::kChunks; ++j) {
      const std::uint32_t first = (fragment_turn(output, Row::kChunks) ^ j) * 8 + image;
      const float(&sum)[4] = sums.of[j];
      float pair[2] = {(sum[0] + sum[2]) / kFragmentWeightScale,
                       (sum[1] + sum[3]) / kFragmentWeightScale};
      above |= activate(epilogue, bias, pair) << first;
      threads.store(row + first * sizeof(__half), __floats2half2_rn(pair[0], pair[1]));
    }
    return above;
  }

 private:
  static __device__ __forceinline__ std::uint32_t lane() {
    return threadIdx.x % 32;
  }

  __device__ __forceinline__ void add_step(const uint2& rows, const uint4& weights,
                                           std::uint32_t rows_at, Sums& sums) const {
    const std::uint32_t row[kFragmentProducts] = {rows.x & 0xffff, rows.x >> 16, rows.y & 0xffff,
                                                  rows.y >> 16};
#pragma unroll
    for (std::uint32_t p = 0; p < kFragmentProducts; ++p) {
      const bool is_own = p == product_;
      const std::uint32_t weight[4] = {is_own ? weights.x : 0, is_own ? weights.y : 0,
                                       is_own ? weights.z : 0, is_own ? weights.w : 0};
      const std::uint32_t at = rows_at + row[p] * Row::kBytes;
#pragma unroll
      for (int j = 0; j < Row::kChunks; ++j) {
        add_product(weight, gather_slots(at ^ j * 16), places_, sums.of[j]);
      }
    }
  }

  __device__ __forceinline__ void fetch(int q) {
    rows_[q] = __ldg(at_.row());
    weights_[q] = __ldg(at_.weight());
    at_.next_step();
  }

  ResidentPlace at_;
  std::uint32_t product_, turn_, places_;
  uint2 rows_[kUnroll];
  uint4 weights_[kUnroll];
};

}  // namespace winnow
