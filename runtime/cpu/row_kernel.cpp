// Compiled with -mavx512f: nothing here may be shared with other files.
#include "runtime/cpu/row_kernel.h"

#include <immintrin.h>

#define WINNOW_UNROLL _Pragma("GCC unroll 8")

namespace winnow {
namespace {

// Sums, the weights of a tap and an input take most of 32 registers.
constexpr int kChannels[kMaxRowVectors + 1] = {0, 8, 8, 8, 6, 5, 4, 3};

template <int kVectors>
void run(const RowTile& tile) {
  constexpr int kCount = kChannels[kVectors];
  __m512 sum[kCount][kVectors];
  WINNOW_UNROLL for (int k = 0; k < kCount; ++k) {
    WINNOW_UNROLL for (int v = 0; v < kVectors; ++v) sum[k][v] = _mm512_set1_ps(tile.bias[k]);
  }
  const float* weights = tile.weights;
  for (std::int64_t tap = 0; tap < tile.taps; ++tap, weights += tile.weight_stride) {
    const float* in = tile.in + tile.offset[tap];
    __m512 w[kCount];
    WINNOW_UNROLL for (int k = 0; k < kCount; ++k) w[k] = _mm512_set1_ps(weights[k]);
    WINNOW_UNROLL for (int v = 0; v < kVectors; ++v) {
      __m512 x = _mm512_loadu_ps(in + v * kRowLanes);
      asm("" : "+v"(x));  // once into a register: the compiler would read it for every channel
      WINNOW_UNROLL for (int k = 0; k < kCount; ++k) {
        sum[k][v] = _mm512_fmadd_ps(w[k], x, sum[k][v]);
      }
    }
  }
  const __m512 zero = _mm512_setzero_ps();
  WINNOW_UNROLL for (int k = 0; k < kCount; ++k) {
    if (k >= tile.channels) return;
    float* out = tile.out + k * tile.channel_stride;
    WINNOW_UNROLL for (int v = 0; v < kVectors; ++v) {
      // The second operand of a maximum is its result where one of them is not a number. (GCC 12
      // warns of its own header's unmasked maximum.)
      const __m512 y = tile.has_relu ? _mm512_maskz_max_ps(0xffff, zero, sum[k][v]) : sum[k][v];
      if (v + 1 < kVectors) {
        _mm512_storeu_ps(out + v * kRowLanes, y);
      } else {
        _mm512_mask_storeu_ps(out + v * kRowLanes, tile.last_lanes, y);
      }
    }
  }
}

}  // namespace

int row_channels(int vectors) {
  return kChannels[vectors];
}

void run_row_tile(int vectors, const RowTile& tile) {
  using Run = void (*)(const RowTile&);
  static constexpr Run kRuns[] = {nullptr, run<1>, run<2>, run<3>, run<4>, run<5>, run<6>, run<7>};
  kRuns[vectors](tile);
}

}  // namespace winnow
