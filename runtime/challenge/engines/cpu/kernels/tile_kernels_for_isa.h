// The body of the tile kernel. Included by one source file per instruction set, each of which
// defines in its own anonymous namespace first:
//   kLanes    lanes of a register
//   kVectors  registers beside each other that a tile computes at a time
//   Vector    kLanes floats
//   larger(a, b), smaller(a, b)
//   plus_bias(z, bias)           z + bias where z is not 0, else 0
// and is compiled with that set's flags: nothing here may be shared between them, so no standard
// library templates appear.
#pragma once

#include "runtime/challenge/engines/cpu/kernels/tile_kernels.h"

// The rules of headers do not fit a body.
// NOLINTBEGIN(google-build-namespaces,misc-definitions-in-headers)
namespace winnow::challenge {
namespace {

using Bits __attribute__((vector_size(sizeof(Vector)), may_alias)) = std::uint32_t;

inline Vector splat(float value) {
  return value - Vector{};  // x + 0 would turn -0 into 0
}

#define WINNOW_UNROLL _Pragma("GCC unroll 64")

// Low tiles take turns between this many partial sums, which hides the latency of an addition.
constexpr int turns(int height) {
  return height >= 4 ? 1 : 4 / height;
}

inline std::uint64_t row_of(std::uint32_t neuron) {
  return static_cast<std::uint64_t>(neuron) * kSlabLanes;
}

// `next` is a row that will be needed soon: with many neurons a slab does not fit the cache.
template <int kHeight, int kCount>
inline void add_input(const float* in, const float* next, const float* value,
                      Vector (&sum)[kHeight][kCount]) {
  WINNOW_UNROLL for (int lane = 0; lane < kCount * kLanes; lane += kLaneMultiple) {
    __builtin_prefetch(next + lane);
  }
  const auto* row = reinterpret_cast<const Vector*>(in);
  Vector x[kCount];
  WINNOW_UNROLL for (int v = 0; v < kCount; ++v) x[v] = row[v];
  WINNOW_UNROLL for (int h = 0; h < kHeight; ++h) {
    const Vector w = splat(value[h]);
    WINNOW_UNROLL for (int v = 0; v < kCount; ++v) sum[h][v] += w * x[v];
  }
}

template <int kHeight, int kCount>
inline void add_inputs(const TileArgs& args, const OutputTile& tile, std::int64_t lane,
                       Vector (&total)[kHeight][kCount]) {
  constexpr int kTurns = turns(kHeight);
  constexpr int kStep = kTurns < 2 ? 2 : kTurns;
  const std::uint32_t* input = args.input + tile.input_begin;
  const std::uint32_t* const end = input + tile.inputs;
  const float* value = args.value + tile.value_begin;
  const float* in = args.in + lane;
  Vector sum[kTurns][kHeight][kCount] = {};
  for (const auto* full = end - tile.inputs % kStep; input != full; input += kStep) {
    WINNOW_UNROLL for (int t = 0; t < kStep; ++t) {
      add_input(in + input[t], in + input[t + kPrefetchDistance], value + t * kHeight,
                sum[t % kTurns]);
    }
    value += kStep * kHeight;
  }
  for (; input != end; ++input, value += kHeight) {
    add_input(in + *input, in + input[kPrefetchDistance], value, sum[0]);
  }
  WINNOW_UNROLL for (int h = 0; h < kHeight; ++h) {
    WINNOW_UNROLL for (int v = 0; v < kCount; ++v) {
      total[h][v] = sum[0][h][v];
      WINNOW_UNROLL for (int t = 1; t < kTurns; ++t) total[h][v] += sum[t][h][v];
    }
  }
}

template <int kHeight, int kCount>
inline void run_tile(const TileArgs& args, const OutputTile& tile, std::int64_t lane,
                     Bits (&alive)[kCount]) {
  const Vector zero = {}, limit = splat(args.limit);
  Vector sum[kHeight][kCount];
  add_inputs(args, tile, lane, sum);
  WINNOW_UNROLL for (int h = 0; h < kHeight; ++h) {
    const float bias = args.bias[tile.output + h];
    auto* out = reinterpret_cast<Vector*>(args.out + row_of(tile.output + h) + lane);
    WINNOW_UNROLL for (int v = 0; v < kCount; ++v) {
      const Vector y = smaller(larger(plus_bias(sum[h][v], bias), zero), limit);
      alive[v] |= reinterpret_cast<Bits>(y);  // 0 only for +0, and there is no -0 here
      out[v] = y;
    }
  }
}

template <int kCount>
void run_lanes(const TileArgs& args, std::int64_t lane) {
  auto* alive_lanes = reinterpret_cast<Bits*>(args.alive + lane);
  Bits alive[kCount];
  WINNOW_UNROLL for (int v = 0; v < kCount; ++v) alive[v] = alive_lanes[v];
  for (std::int64_t i = 0; i < args.tiles; ++i) {
    const OutputTile& tile = args.tile[i];
    switch (tile.height) {
      case 8:
        run_tile<8, kCount>(args, tile, lane, alive);
        break;
      case 4:
        run_tile<4, kCount>(args, tile, lane, alive);
        break;
      case 2:
        run_tile<2, kCount>(args, tile, lane, alive);
        break;
      default:
        run_tile<1, kCount>(args, tile, lane, alive);
    }
  }
  WINNOW_UNROLL for (int v = 0; v < kCount; ++v) alive_lanes[v] = alive[v];
}

#undef WINNOW_UNROLL

void run_tiles(const TileArgs& args) {
  constexpr int kStep = kVectors * kLanes;
  std::int64_t lane = 0;
  for (; lane + kStep <= args.lanes; lane += kStep) run_lanes<kVectors>(args, lane);
  for (; lane < args.lanes; lane += kLanes) run_lanes<1>(args, lane);
}

}  // namespace
}  // namespace winnow::challenge
// NOLINTEND(google-build-namespaces,misc-definitions-in-headers)
