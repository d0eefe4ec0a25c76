// The bodies of the micro kernels. Included by one source file per instruction set, each of which
// defines kLanes, kWideRegisters and gather_lanes() in its own anonymous namespace first and is
// compiled with that set's flags: nothing here may be shared between them, so no standard library
// templates appear.
#pragma once

#include "runtime/cpu/micro_kernels.h"

// The rules of headers do not fit bodies, and loops that are unrolled nest deep.
// NOLINTBEGIN(google-build-namespaces,misc-definitions-in-headers,*-cognitive-complexity)
namespace winnow {
namespace {

// Unaligned loads and stores are as fast as aligned ones on aligned addresses.
using Vector __attribute__((vector_size(kLanes * sizeof(float)))) = float;
using LooseVector
    __attribute__((vector_size(kLanes * sizeof(float)), aligned(sizeof(float)), may_alias)) = float;

inline Vector load(const float* from) {
  return *reinterpret_cast<const LooseVector*>(from);
}
inline void store(float* to, Vector value) {
  *reinterpret_cast<LooseVector*>(to) = value;
}
inline Vector splat(float value) {
  return value - Vector{};
}  // x + 0 would turn -0 into 0
inline Vector activated(Vector x, bool has_relu) {
  const Vector zero = {};
  return has_relu ? (x < zero ? zero : x) : x;  // NaN stays NaN
}

// Writes the first `count` lanes.
inline void store_some(float* to, Vector value, std::int64_t count) {
  if (count >= kLanes) return store(to, value);
  for (int i = 0; i < count; ++i) to[i] = value[i];
}

#define WINNOW_UNROLL _Pragma("GCC unroll 64")

// Small tiles of single channels: `kParts` sums that take turns hide the latency of an addition.
// Leaves their total in sum[0] and returns how many entries of the row it has done.
template <int kParts, int kRows, int kCols>
inline std::int64_t add_in_turns(const PositionArgs& args, std::int64_t first, std::int64_t end,
                                 Vector (&sum)[kRows][kCols]) {
  Vector parts[kParts][kRows][kCols] = {};
  std::int64_t i = first;
  for (; i + kParts <= end; i += kParts) {
    WINNOW_UNROLL for (int p = 0; p < kParts; ++p) {
      const std::int64_t offset = args.offset[i + p];
      const Vector w = splat(args.value[i + p]);
      WINNOW_UNROLL for (int r = 0; r < kRows; ++r) {
        const float* in = args.in[r] + offset;
        WINNOW_UNROLL for (int c = 0; c < kCols; ++c) parts[p][r][c] += w * load(in + c * kLanes);
      }
    }
  }
  WINNOW_UNROLL for (int p = 0; p < kParts; ++p) {
    WINNOW_UNROLL for (int r = 0; r < kRows; ++r) {
      WINNOW_UNROLL for (int c = 0; c < kCols; ++c) sum[r][c] += parts[p][r][c];
    }
  }
  return i - first;
}

template <int kVector, int kRows, int kCols>
void run_positions(const PositionArgs& args) {
  for (std::int64_t row = 0; row < args.block_rows; ++row) {
    const std::int64_t first = args.begin[row], end = args.begin[row + 1];
    const std::int64_t channel = row * kVector;
    const std::int64_t valid = args.channels - channel;
    if (!args.bias && first == end && !args.has_relu) continue;
    Vector sum[kVector][kRows][kCols];
    WINNOW_UNROLL for (int u = 0; u < kVector; ++u) {
      WINNOW_UNROLL for (int r = 0; r < kRows; ++r) {
        WINNOW_UNROLL for (int c = 0; c < kCols; ++c) {
          if (args.bias) {
            sum[u][r][c] = splat(args.bias[channel + u]);
          } else {
            const std::int64_t at = (channel + (u < valid ? u : 0)) * args.channel_stride;
            sum[u][r][c] = load(args.out[r] + at + c * kLanes);
          }
        }
      }
    }
    const float* in[kRows];
    WINNOW_UNROLL for (int r = 0; r < kRows; ++r) in[r] = args.in[r];
    constexpr int kPoints = kRows * kCols;
    std::int64_t i = first;
    if constexpr (kVector == 1 && kPoints <= 4) {
      i += add_in_turns < kPoints <= 2 ? 4 : 2, kRows, kCols > (args, first, end, sum[0]);
    }
    for (; i < end; ++i) {
      const std::int64_t offset = args.offset[i];
      const float* weight = args.value + i * kVector;
      if constexpr (kVector == 1) {
        const Vector w = splat(*weight);
        WINNOW_UNROLL for (int r = 0; r < kRows; ++r) {
          WINNOW_UNROLL for (int c = 0; c < kCols; ++c) {
            sum[0][r][c] += w * load(in[r] + offset + c * kLanes);
          }
        }
      } else {
        Vector x[kRows][kCols];
        WINNOW_UNROLL for (int r = 0; r < kRows; ++r) {
          WINNOW_UNROLL for (int c = 0; c < kCols; ++c) x[r][c] = load(in[r] + offset + c * kLanes);
        }
        WINNOW_UNROLL for (int u = 0; u < kVector; ++u) {
          const Vector w = splat(weight[u]);
          WINNOW_UNROLL for (int r = 0; r < kRows; ++r) {
            WINNOW_UNROLL for (int c = 0; c < kCols; ++c) sum[u][r][c] += w * x[r][c];
          }
        }
      }
    }
    WINNOW_UNROLL for (int u = 0; u < kVector; ++u) {
      if (u >= valid) break;
      WINNOW_UNROLL for (int r = 0; r < kRows; ++r) {
        WINNOW_UNROLL for (int c = 0; c < kCols; ++c) {
          float* to = args.out[r] + (channel + u) * args.channel_stride + c * kLanes;
          store(to, activated(sum[u][r][c], args.has_relu));
        }
      }
    }
  }
}

// kVectors neighbouring vectors of channels from `channel` on, for one row of blocks.
template <int kVectors, int kRows, int kCols>
inline void run_channel_vectors(const ChannelArgs& args, std::int64_t row, std::int64_t lane) {
  const std::int64_t channel = row * args.vector + lane;
  Vector sum[kVectors][kRows][kCols];
  WINNOW_UNROLL for (int v = 0; v < kVectors; ++v) {
    const Vector bias = load(args.bias + channel + v * kLanes);
    WINNOW_UNROLL for (int r = 0; r < kRows; ++r) {
      WINNOW_UNROLL for (int c = 0; c < kCols; ++c) sum[v][r][c] = bias;
    }
  }
  const float* in[kRows];
  WINNOW_UNROLL for (int r = 0; r < kRows; ++r) in[r] = args.in[r];
  const std::int64_t end = args.begin[row + 1];
  for (std::int64_t i = args.begin[row]; i < end; ++i) {
    const std::int64_t offset = args.offset[i];
    const float* weight = args.value + i * args.vector + lane;
    Vector w[kVectors];
    WINNOW_UNROLL for (int v = 0; v < kVectors; ++v) w[v] = load(weight + v * kLanes);
    WINNOW_UNROLL for (int r = 0; r < kRows; ++r) {
      WINNOW_UNROLL for (int c = 0; c < kCols; ++c) {
        const Vector x = splat(in[r][offset + c * kChannelStep]);
        WINNOW_UNROLL for (int v = 0; v < kVectors; ++v) sum[v][r][c] += w[v] * x;
      }
    }
  }
  WINNOW_UNROLL for (int v = 0; v < kVectors; ++v) {
    const std::int64_t valid = args.channels - channel - v * kLanes;
    if (valid <= 0) break;
    WINNOW_UNROLL for (int r = 0; r < kRows; ++r) {
      WINNOW_UNROLL for (int c = 0; c < kCols; ++c) {
        float* to = args.out[r] + c * args.out_step + channel + v * kLanes;
        store_some(to, activated(sum[v][r][c], args.has_relu), valid);
      }
    }
  }
}

template <int kVectors, int kRows, int kCols>
void run_channels(const ChannelArgs& args) {
  for (std::int64_t row = 0; row < args.block_rows; ++row) {
    for (std::int64_t lane = 0; lane < args.vector; lane += kVectors * kLanes) {
      run_channel_vectors<kVectors, kRows, kCols>(args, row, lane);
    }
  }
}

// Two partial sums per image hide the latency of gathers.
template <int kImages>
void run_gather(const GatherArgs& args) {
  for (std::int64_t row_group = 0; row_group < args.row_groups; ++row_group) {
    Vector even[kImages], odd[kImages];
    WINNOW_UNROLL for (int n = 0; n < kImages; ++n) {
      even[n] = load(args.bias + row_group * kLanes);
      odd[n] = Vector{};
    }
    const std::int64_t end = args.begin[row_group + 1];
    std::int64_t i = args.begin[row_group];
    for (; i + 1 < end; i += 2) {
      const Vector w0 = load(args.value + i * kLanes), w1 = load(args.value + (i + 1) * kLanes);
      WINNOW_UNROLL for (int n = 0; n < kImages; ++n) {
        even[n] += w0 * gather_lanes<Vector>(args.in[n], args.offset + i * kLanes);
        odd[n] += w1 * gather_lanes<Vector>(args.in[n], args.offset + (i + 1) * kLanes);
      }
    }
    if (i < end) {
      const Vector w = load(args.value + i * kLanes);
      WINNOW_UNROLL for (int n = 0; n < kImages; ++n) {
        even[n] += w * gather_lanes<Vector>(args.in[n], args.offset + i * kLanes);
      }
    }
    WINNOW_UNROLL for (int n = 0; n < kImages; ++n) {
      const Vector sum = activated(even[n] + odd[n], args.has_relu);
      store_some(args.out[n] + row_group * kLanes, sum, args.channels - row_group * kLanes);
    }
  }
}

constexpr int kChains = kWideRegisters ? 24 : 12;  // more than a multiply-add's latency asks for

void run_chains(std::int64_t rounds, float (&values)[2]) {
  const Vector factor = splat(values[0]), term = splat(values[1]);
  Vector sum[kChains];  // of different values: a compiler computes equal ones once
  WINNOW_UNROLL for (int c = 0; c < kChains; ++c) sum[c] = splat(static_cast<float>(c));
  for (std::int64_t round = 0; round < rounds; ++round) {
    WINNOW_UNROLL for (int c = 0; c < kChains; ++c) sum[c] = sum[c] * factor + term;
  }
  WINNOW_UNROLL for (int c = 1; c < kChains; ++c) sum[0] += sum[c];
  values[0] = sum[0][0];
}

#undef WINNOW_UNROLL

// --------------------------------------------------------------------------------- the tables

constexpr int kSinglePoints = kWideRegisters ? 16 : 12;
constexpr int kBlockChannels = kWideRegisters ? 8 : 4;  // with 3 points: 24 of 32, 12 of 16 sums
constexpr int kBlockedPoints = 3;
constexpr int kPairPoints = kWideRegisters ? 12 : 6;

template <int kRows, int kCols>
void fill_tile(MicroKernels& table) {
  constexpr int kPoints = kRows * kCols;
  constexpr bool kIsPower = kRows == 1 || kRows == 2 || kRows == 4 || kRows == 8;
  if constexpr (kIsPower && kPoints <= kSinglePoints) {
    table.single[kRows][kCols] = run_positions<1, kRows, kCols>;
    table.channels[kRows][kCols] = run_channels<1, kRows, kCols>;
  }
  if constexpr (kIsPower && kPoints <= kPairPoints) {
    table.channel_pairs[kRows][kCols] = run_channels<2, kRows, kCols>;
  }
  if constexpr (kPoints <= kBlockedPoints) {
    table.blocked[kRows][kCols] = run_positions<kBlockChannels, kRows, kCols>;
  }
}

template <int kRows, int kCols>
void fill_row(MicroKernels& table) {
  fill_tile<kRows, kCols>(table);
  if constexpr (kCols < kMaxCols) fill_row<kRows, kCols + 1>(table);
}

MicroKernels make_table(Isa isa) {
  MicroKernels table = {};
  table.isa = isa;
  table.lanes = kLanes;
  table.block_channels = kBlockChannels;
  fill_row<1, 1>(table);
  fill_row<2, 1>(table);
  fill_row<3, 1>(table);
  fill_row<4, 1>(table);
  fill_row<8, 1>(table);
  table.gather[1] = run_gather<1>;
  table.gather[2] = run_gather<2>;
  table.gather[4] = run_gather<4>;
  table.chains = kChains;
  table.chain = run_chains;
  return table;
}

}  // namespace
}  // namespace winnow
// NOLINTEND(google-build-namespaces,misc-definitions-in-headers,*-cognitive-complexity)
