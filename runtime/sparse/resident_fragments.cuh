// A slice of resident_layers.cuh by tensor cores: 8 outputs, whose inputs ldmatrix gathers
// (fragment_order.h). Activations are fp16, R images to a row.
//
// FMAs on fp16 activations spend as many instructions on conversion as on sums; here nothing is
// converted before the epilogue.
#pragma once

#include <cstdint>

#include "runtime/device/load_matrices.cuh"
#include "runtime/sparse/fragment_order.h"
#include "runtime/sparse/resident_layers.cuh"

namespace winnow {

// sum[16 rows][8 images] += weights x inputs[32 slots][8 images]. `places`: which 2 of 4 columns a
// row's weights are.
__device__ __forceinline__ void add_product(const std::uint32_t (&weight)[4],
                                            const std::uint32_t (&in)[4], std::uint32_t places,
                                            float (&sum)[4]) {
  asm("mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9, %10, %11}, {%0, %1, %2, %3}, %12, 0x0;"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(weight[0]), "r"(weight[1]), "r"(weight[2]), "r"(weight[3]), "r"(in[0]), "r"(in[1]),
        "r"(in[2]), "r"(in[3]), "r"(places));
}

// What ResidentStream is for FMAs.
template <int R, int kUnroll = kResidentUnroll>
class FragmentStream : public ResidentSteps<kUnroll> {
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
      : ResidentSteps<kUnroll>(weights, first_layer, warp),
        product_(fragment_product(lane())),
        turn_(fragment_turn(fragment_slot(lane(), 0).output, Row::kChunks) * 16),
        places_(lane() / 4 % 2 == 0 ? 0x44444444u : 0xeeeeeeeeu) {
    static_assert(Row::kChunks <= 2, "the turn of a lane's slots is the same in all products");
  }

  // Adds `steps` steps, a multiple of kUnroll, with the activations at x.
  __device__ __forceinline__ void add(std::uint32_t steps, const unsigned char* x, Sums& sums) {
    const auto rows_at = static_cast<std::uint32_t>(__cvta_generic_to_shared(x)) + turn_;
    this->for_each(steps, [&](const StepRows& rows, const uint4& weights) {
      add_step(rows, weights, rows_at, sums);
    });
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

  __device__ __forceinline__ void add_step(const StepRows& rows, const uint4& weights,
                                           std::uint32_t rows_at, Sums& sums) const {
#pragma unroll
    for (std::uint32_t p = 0; p < kFragmentProducts; ++p) {
      const bool is_own = p == product_;
      const std::uint32_t weight[4] = {is_own ? weights.x : 0, is_own ? weights.y : 0,
                                       is_own ? weights.z : 0, is_own ? weights.w : 0};
      const std::uint32_t at = rows_at + rows.of[p] * Row::kBytes;
#pragma unroll
      for (int j = 0; j < Row::kChunks; ++j) {
        std::uint32_t slots[4];
        load_matrices(at ^ j * 16, slots);
        add_product(weight, slots, places_, sums.of[j]);
      }
    }
  }

  std::uint32_t product_, turn_, places_;
};

}  // namespace winnow
