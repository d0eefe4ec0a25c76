// How the fragments meet memory: lane = 4 n + q. As matrix B (inputs x images) mma.m16n8k16 wants
// from a lane the inputs 2q, 2q+1, 2q+8, 2q+9 of image n. Which image is called n of block b is
// free: here it is image 8 c(n) + b with c(n) = n / 2 + 4 (n % 2). So a lane needs 8 neighbouring
// images of a row, 16 bytes, for all 8 blocks, the 8 lanes with the same q read whole rows of 128
// bytes, and pairs of inputs come together by byte permutation. In the result a lane holds for
// outputs n and n + 8 the images 2q, 2q+1 of each block: the chunks q and q + 4 of 16 bytes, so
// that four lanes write 64 consecutive bytes.
#include "runtime/challenge/gpu/group_kernel.h"

#include <algorithm>

#include "runtime/base/error.h"
#include "runtime/device/cuda_check.h"
#include "runtime/device/half_cast.cuh"

namespace winnow::challenge {
namespace {

constexpr int kWarps = 8;
constexpr int kThreads = kWarps * 32;
constexpr int kBlocksPerProcessor = 2;
constexpr std::uint32_t kAll = 0xffffffffu;
constexpr std::uint32_t kRowBytes = kGroupImages * 2;   // of one part
constexpr int kFragments = kStepInputs / 16;            // of a step
constexpr std::uint32_t kStagedRow = kGroupImages + 4;  // apart, so that rows meet other banks

// ---------------------------------------------------------------------------------- device

struct Lane {
  std::uint32_t q, n;
  __device__ std::uint32_t chunk() const { return n / 2 + n % 2 * 4; }  // that it reads
};

__device__ __forceinline__ Lane this_lane() {
  const std::uint32_t lane = threadIdx.x % 32;
  return {lane % 4, lane / 4};
}

// Four rows of a lane's chunk.
struct Inputs {
  uint4 row[4];
};

__device__ __forceinline__ std::uint32_t word_of(const uint4& v, int i) {
  return i == 0 ? v.x : i == 1 ? v.y : i == 2 ? v.z : v.w;
}

__device__ __forceinline__ void multiply(const uint4& a, std::uint32_t b0, std::uint32_t b1,
                                         float (&c)[4]) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
      "{%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b0), "r"(b1));
}

// sum += weights x inputs for 16 inputs of 8 blocks of images.
template <int kWeightParts>
__device__ __forceinline__ void add(const uint4 (&weight)[kWeightParts], const Inputs& in,
                                    float (&sum)[8][4]) {
#pragma unroll
  for (int block = 0; block < 8; ++block) {
    const std::uint32_t halves = block % 2 == 0 ? 0x5410 : 0x7632;
    const std::uint32_t b0 =
        __byte_perm(word_of(in.row[0], block / 2), word_of(in.row[1], block / 2), halves);
    const std::uint32_t b1 =
        __byte_perm(word_of(in.row[2], block / 2), word_of(in.row[3], block / 2), halves);
#pragma unroll
    for (int part = 0; part < kWeightParts; ++part) multiply(weight[part], b0, b1, sum[block]);
  }
}

// Inputs of the first layer: a byte of 8 images for each of four rows.
struct BitInputs {
  std::uint32_t row[4];
};

// As above; a bit stands for a two (kBitValue): it is moved to the exponent's highest place.
template <int kWeightParts>
__device__ __forceinline__ void add(const uint4 (&weight)[kWeightParts], const BitInputs& in,
                                    float (&sum)[8][4]) {
  constexpr std::uint32_t kTwos = 0x40004000;
  const std::uint32_t pair0 = in.row[0] | in.row[1] << 16, pair1 = in.row[2] | in.row[3] << 16;
#pragma unroll
  for (int block = 0; block < 8; ++block) {
    const std::uint32_t b0 = pair0 << (14 - block) & kTwos, b1 = pair1 << (14 - block) & kTwos;
#pragma unroll
    for (int part = 0; part < kWeightParts; ++part) multiply(weight[part], b0, b1, sum[block]);
  }
}

// Rows of the inputs of one step that a lane needs.
struct StepRows {
  uint4 of[kFragments];
};

__device__ __forceinline__ StepRows rows_of(const GroupView& w, std::uint32_t step) {
  StepRows rows;
#pragma unroll
  for (int f = 0; f < kFragments; ++f) {
    rows.of[f] = __ldg(w.input + (std::size_t{step} * kFragments + f) * 4 + threadIdx.x % 4);
  }
  return rows;
}

__device__ __forceinline__ std::uint32_t first_step(const GroupView& w, std::uint32_t group) {
  return w.steps != 0 ? group * w.steps : __ldg(w.step_begin + group);
}

template <GroupForm kForm, int kWeightParts>
__device__ __forceinline__ void add_step(const GroupView& w, std::uint32_t step,
                                         const StepRows& rows, const unsigned char* tile,
                                         float (&sum)[8][4]) {
  const std::uint32_t chunk = this_lane().chunk();
  uint4 weight[kFragments][kWeightParts];
#pragma unroll
  for (int f = 0; f < kFragments; ++f) {
#pragma unroll
    for (int part = 0; part < kWeightParts; ++part) {
      weight[f][part] =
          __ldg(w.weight + ((std::size_t{step} * kWeightParts + part) * kFragments + f) * 32 +
                threadIdx.x % 32);
    }
  }
  if constexpr (kForm == GroupForm::bits) {
    BitInputs in[kFragments];
#pragma unroll
    for (int f = 0; f < kFragments; ++f) {
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        in[f].row[k] = __ldg(tile + std::size_t{word_of(rows.of[f], k)} * 8 + chunk);
      }
    }
#pragma unroll
    for (int f = 0; f < kFragments; ++f) add<kWeightParts>(weight[f], in[f], sum);
  } else {
    constexpr int kInputParts = kForm == GroupForm::split ? 2 : 1;
    Inputs in[kInputParts][kFragments];
#pragma unroll
    for (int f = 0; f < kFragments; ++f) {
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const unsigned char* row =
            tile + std::size_t{word_of(rows.of[f], k)} * (kInputParts * kRowBytes) + chunk * 16;
#pragma unroll
        for (int part = 0; part < kInputParts; ++part) {
          in[part][f].row[k] = *reinterpret_cast<const uint4*>(row + part * kRowBytes);
        }
      }
    }
#pragma unroll
    for (int f = 0; f < kFragments; ++f) {
      add<kWeightParts>(weight[f], in[0][f], sum);
      if constexpr (kInputParts == 2) {
        const uint4 high[1] = {weight[f][0]};  // low x low is beyond 22 bits
        add<1>(high, in[1][f], sum);
      }
    }
  }
}

// A lane's outputs n and n + 8 of a group: biases.
struct Biases {
  float of[2];
};

__device__ __forceinline__ Biases biases_of(const GroupView& w, std::uint32_t group) {
  const float* bias = w.bias + group * kGroupOutputs + threadIdx.x % 32 / 4;
  return {{__ldg(bias), __ldg(bias + 8)}};
}

// Where no bias is above 0, it may count for every sum: without inputs the result is 0 anyway.
__device__ __forceinline__ void begin_sum(const GroupView& w, const Biases& bias,
                                          float (&sum)[8][4]) {
#pragma unroll
  for (int block = 0; block < 8; ++block) {
#pragma unroll
    for (int i = 0; i < 4; ++i) sum[block][i] = w.has_positive_bias ? 0.0f : bias.of[i / 2];
  }
}

// Leaves sums to be clamped.
__device__ __forceinline__ void end_sum(const GroupView& w, const Biases& bias,
                                        float (&sum)[8][4]) {
  if (!w.has_positive_bias) return;
#pragma unroll
  for (int block = 0; block < 8; ++block) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      sum[block][i] = sum[block][i] != 0.0f ? sum[block][i] + bias.of[i / 2] : 0.0f;
    }
  }
}

__device__ __forceinline__ float clamped(float z) {
  return fminf(fmaxf(z, 0.0f), kLargestActivation * kActivationScale);
}

__device__ __forceinline__ std::uint32_t bits_of(__half2 pair) {
  return reinterpret_cast<const std::uint32_t&>(pair);
}

// Two values as halfs, and what is left of them as halfs.
struct SplitPair {
  std::uint32_t high, low;
};

__device__ __forceinline__ SplitPair split_pair(float a, float b) {
  const __half2 high = __floats2half2_rn(a, b);
  const float2 back = __half22float2(high);
  return {bits_of(high), bits_of(__floats2half2_rn(a - back.x, b - back.y))};
}

// Clamped to [0, 32] and rounded to halfs: the same as the other way round.
__device__ __forceinline__ std::uint32_t clamped_halfs(float a, float b) {
  std::uint32_t pair;
  asm("cvt.rn.relu.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(b), "f"(a));
  const __half2 limit = __float2half2_rn(kLargestActivation * kActivationScale);
  return bits_of(__hmin2(reinterpret_cast<const __half2&>(pair), limit));
}

// What of a lane's images is not 0 in any row so far: halfs of chunk q, then of chunk q + 4.
struct Seen {
  std::uint32_t word[2][4];
};

// Clamps the sums and writes the lane's chunks to `to`, [16 rows][kParts][64].
template <int kParts>
__device__ __forceinline__ void store_chunks(const float (&sum)[8][4], unsigned char* to,
                                             Seen& seen) {
  const Lane lane = this_lane();
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    SplitPair pair[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const float a = sum[2 * k][i], b = sum[2 * k + 1][i];
      pair[k] =
          kParts == 2 ? split_pair(clamped(a), clamped(b)) : SplitPair{clamped_halfs(a, b), 0};
      seen.word[i % 2][k] |= pair[k].high;
    }
    unsigned char* row = to + (lane.n + i / 2 * 8) * kParts * kRowBytes + (lane.q + i % 2 * 4) * 16;
    *reinterpret_cast<uint4*>(row) =
        make_uint4(pair[0].high, pair[1].high, pair[2].high, pair[3].high);
    if constexpr (kParts == 2) {
      *reinterpret_cast<uint4*>(row + kRowBytes) =
          make_uint4(pair[0].low, pair[1].low, pair[2].low, pair[3].low);
    }
  }
}

// Clamps the sums and writes them to shared memory, [16 rows][kStagedRow].
__device__ __forceinline__ void stage_chunks(const float (&sum)[8][4], float* staged) {
  const Lane lane = this_lane();
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    float* row = staged + (lane.n + i / 2 * 8) * kStagedRow + (lane.q + i % 2 * 4) * 8;
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      *reinterpret_cast<float4*>(row + k * 4) =
          make_float4(clamped(sum[4 * k][i]), clamped(sum[4 * k + 1][i]),
                      clamped(sum[4 * k + 2][i]), clamped(sum[4 * k + 3][i]));
    }
  }
}

// Where the kept images of a tile go. A lane takes two neighbouring places.
struct Places {
  std::uint32_t first;      // place
  std::uint32_t taken;      // places, those for images of zeros included
  std::uint32_t source[2];  // images of the tile that come to the lane's places, kNone for zeros
};
constexpr std::uint32_t kNone = ~0u;

__device__ __forceinline__ Places places_of(const GroupLaunch& a, std::uint32_t tile,
                                            unsigned char* order) {
  const std::uint32_t low = __ldg(a.keep + 2 * tile), high = __ldg(a.keep + 2 * tile + 1);
  const std::uint32_t lane = threadIdx.x % 32, below = (1u << lane) - 1;
  const std::uint32_t lows = __popc(low), count = lows + __popc(high);
  __syncwarp();
  if ((low >> lane & 1) != 0) order[__popc(low & below)] = static_cast<unsigned char>(lane);
  if ((high >> lane & 1) != 0) {
    order[lows + __popc(high & below)] = static_cast<unsigned char>(lane + 32);
  }
  __syncwarp();
  return {__ldg(a.first + tile),
          (count + a.multiple - 1) / a.multiple * a.multiple,
          {2 * lane < count ? order[2 * lane] : kNone,
           2 * lane + 1 < count ? order[2 * lane + 1] : kNone}};
}

__device__ __forceinline__ void move_names(const GroupLaunch& a, std::uint32_t tile,
                                           const Places& places) {
#pragma unroll
  for (std::uint32_t i = 0; i < 2; ++i) {
    if (places.source[i] == kNone) continue;
    const std::uint32_t number = tile * kGroupImages + places.source[i];
    a.out_id[places.first + threadIdx.x % 32 * 2 + i] =
        a.in_id == nullptr ? number : __ldg(a.in_id + number);
  }
}

// Moves the kept images from the staged rows to their places. Returns what was not 0: two halfs.
template <int kParts>
__device__ __forceinline__ std::uint32_t move_rows(const GroupLaunch& a, std::uint32_t group,
                                                   const Places& places, const float* staged) {
  const std::uint32_t lane = threadIdx.x % 32, place = places.first + 2 * lane;
  if (2 * lane >= places.taken) return 0;
  const bool has[2] = {places.source[0] != kNone, places.source[1] != kNone};
  const std::size_t row =
      std::size_t{place / kGroupImages} * a.rows + std::size_t{group} * kGroupOutputs;
  std::uint32_t* to =
      static_cast<std::uint32_t*>(a.out) + (row * kParts * kGroupImages + place % kGroupImages) / 2;
  std::uint32_t seen = 0;
#pragma unroll
  for (std::uint32_t r = 0; r < kGroupOutputs; ++r, to += kParts * kGroupImages / 2) {
    const float x = has[0] ? staged[r * kStagedRow + places.source[0]] : 0.0f;
    const float y = has[1] ? staged[r * kStagedRow + places.source[1]] : 0.0f;
    const SplitPair pair =
        kParts == 2 ? split_pair(x, y) : SplitPair{bits_of(__floats2half2_rn(x, y)), 0};
    seen |= pair.high;
    to[0] = pair.high;
    if constexpr (kParts == 2) to[kGroupImages / 2] = pair.low;
  }
  return seen;
}

__device__ __forceinline__ std::uint32_t has_bits(std::uint32_t halfs) {
  return ((halfs & 0xffff) != 0 ? 1u : 0u) | (halfs >> 16 != 0 ? 2u : 0u);
}

__device__ __forceinline__ void set_bits(std::uint32_t* word, std::uint32_t bits) {
  if ((bits & ~*static_cast<volatile std::uint32_t*>(word)) != 0) atomicOr(word, bits);
}

// Whether images are alive, told once for all groups of a tile that the warp has computed.
__device__ __forceinline__ void tell_alive(std::uint32_t* alive, std::uint32_t tile,
                                           std::uint32_t images, const Seen& seen) {
  std::uint32_t bits[2] = {};
#pragma unroll
  for (int i = 0; i < 2; ++i) {
#pragma unroll
    for (int k = 0; k < 4; ++k) bits[i] |= has_bits(seen.word[i][k]) << (2 * k);
    bits[i] = __reduce_or_sync(kAll, bits[i] << threadIdx.x % 4 * 8);
  }
  const std::uint32_t there = images - tile * kGroupImages;
  if (there < kGroupImages) {
    bits[0] &= there < 32 ? (1u << there) - 1 : kAll;
    bits[1] &= there > 32 ? (1u << (there - 32)) - 1 : 0;
  }
  const std::uint32_t lane = threadIdx.x % 32;
  if (lane < 2) set_bits(alive + 2 * tile + lane, lane == 0 ? bits[0] : bits[1]);
}

// The same for images that moved; their places reach into up to three words.
__device__ __forceinline__ void tell_moved_alive(std::uint32_t* alive, const Places& places,
                                                 std::uint32_t seen) {
  const std::uint32_t lane = threadIdx.x % 32, place = places.first + 2 * lane;
  const std::uint32_t word = places.first / 32, bits = has_bits(seen) << place % 32;
  std::uint32_t of_word = 0;  // lane i: of word i
#pragma unroll
  for (std::uint32_t i = 0; i < 3; ++i) {
    const std::uint32_t all = __reduce_or_sync(kAll, place / 32 == word + i ? bits : 0);
    if (lane == i) of_word = all;
  }
  if (of_word != 0) set_bits(alive + word + lane, of_word);
}

// From here on, what the launch before wrote is there. The next one may begin, up to this point.
__device__ __forceinline__ void wait_for_launch_before() {
#if __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
  cudaGridDependencySynchronize();
#endif
}

// All blocks work on the same few tiles, so that these stay in the L2 cache; a block takes a run of
// neighbouring groups, which have inputs in common.
template <GroupForm kIn, bool kSplitOut, int kWeightParts, bool kMoves>
__global__ void __launch_bounds__(kThreads, kBlocksPerProcessor) group_kernel(const GroupLaunch a) {
  constexpr int kInParts = kIn == GroupForm::split ? 2 : 1;
  constexpr int kOutParts = kSplitOut ? 2 : 1;
  __shared__ __align__(16) float staging[kWarps][kMoves ? kGroupOutputs * kStagedRow : 4];
  __shared__ unsigned char orders[kWarps][kMoves ? kGroupImages : 1];
  const std::uint32_t warp = threadIdx.x / 32;
  const std::uint32_t parts = (a.weights.groups + kWarps - 1) / kWarps;
  const std::uint32_t runs = (parts + a.run - 1) / a.run;  // of a tile
  const std::size_t tile_bytes = kIn == GroupForm::bits
                                     ? std::size_t{a.bit_rows} * (kGroupImages / 8)
                                     : std::size_t{a.rows} * kInParts * kRowBytes;
  const auto rows_at = [&](std::uint32_t group) {
    return rows_of(a.weights, first_step(a.weights, group));
  };
  const auto group_of = [&](std::uint32_t part) {  // the last part may be short
    return min(part * kWarps + warp, a.weights.groups - 1);
  };
  StepRows rows = rows_at(group_of(blockIdx.x % runs * a.run));
  wait_for_launch_before();
  const std::uint32_t images = *a.count;
  const std::uint32_t tiles = (images + kGroupImages - 1) / kGroupImages;
  for (std::uint32_t work = blockIdx.x; work < tiles * runs; work += gridDim.x) {
    const std::uint32_t tile = a.is_reverse ? tiles - 1 - work / runs : work / runs;
    const unsigned char* in = static_cast<const unsigned char*>(a.in) + tile * tile_bytes;
    const std::uint32_t first_part = work % runs * a.run;
    const std::uint32_t last_part = min(first_part + a.run, parts);
    Seen seen{};
    std::uint32_t moved_seen = 0;
    Places places{};
    if constexpr (kMoves) {
      places = places_of(a, tile, orders[warp]);
      if (first_part == 0 && warp == 0) move_names(a, tile, places);
    }
    for (std::uint32_t part = first_part; part < last_part; ++part) {
      const std::uint32_t group = group_of(part);
      const Biases bias = biases_of(a.weights, group);
      const std::uint32_t step = first_step(a.weights, group);
      float sum[8][4];
      begin_sum(a.weights, bias, sum);
      add_step<kIn, kWeightParts>(a.weights, step, rows, in, sum);
      if (a.weights.steps != 1) {
        const std::uint32_t last_step = __ldg(a.weights.step_begin + group + 1);
        for (std::uint32_t s = step + 1; s < last_step; ++s) {
          add_step<kIn, kWeightParts>(a.weights, s, rows_of(a.weights, s), in, sum);
        }
      }
      const std::uint32_t next =
          part + 1 < last_part ? part + 1 : (work + gridDim.x) % runs * a.run;
      rows = rows_at(group_of(next));
      end_sum(a.weights, bias, sum);
      if constexpr (kMoves) {
        stage_chunks(sum, staging[warp]);
        __syncwarp();
        moved_seen |= move_rows<kOutParts>(a, group, places, staging[warp]);
        __syncwarp();
      } else {
        const std::size_t row = std::size_t{tile} * a.rows + std::size_t{group} * kGroupOutputs;
        store_chunks<kOutParts>(
            sum, static_cast<unsigned char*>(a.out) + row * kOutParts * kRowBytes, seen);
      }
    }
    if (a.alive == nullptr) continue;
    if constexpr (kMoves) {
      tell_moved_alive(a.alive, places, moved_seen);
    } else {
      tell_alive(a.alive, tile, images, seen);
    }
  }
}

// ------------------------------------------------------------------------------------ host

using Kernel = void (*)(GroupLaunch);

template <GroupForm kIn, bool kSplitOut, int kWeightParts>
Kernel kernel_for(const GroupLaunch& launch) {
  if constexpr (kIn != GroupForm::bits) {
    if (launch.keep != nullptr) return group_kernel<kIn, kSplitOut, kWeightParts, true>;
  }
  return group_kernel<kIn, kSplitOut, kWeightParts, false>;
}

template <GroupForm kIn, bool kSplitOut>
Kernel kernel_for(const GroupLaunch& launch) {
  if (launch.weights.parts == 2) return kernel_for<kIn, kSplitOut, 2>(launch);
  return kernel_for<kIn, kSplitOut, 1>(launch);
}

Kernel kernel_for(const GroupLaunch& launch) {
  const bool splits = launch.out_form == GroupForm::split;
  switch (launch.in_form) {
    case GroupForm::bits:
      return splits ? kernel_for<GroupForm::bits, true>(launch)
                    : kernel_for<GroupForm::bits, false>(launch);
    case GroupForm::split:
      return splits ? kernel_for<GroupForm::split, true>(launch)
                    : kernel_for<GroupForm::split, false>(launch);
    case GroupForm::half:
      if (splits) break;
      return kernel_for<GroupForm::half, false>(launch);
  }
  fail(ErrorCode::internal, "group kernel: no such form");
}

// Whether a launch can begin before the one before it has ended.
bool can_overlap() {
  int gpu = 0, major = 0;
  CUDA_CHECK(cudaGetDevice(&gpu));
  CUDA_CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, gpu));
  return major >= 9;
}

}  // namespace

void launch_group_layer(const GroupLaunch& launch, int processors, cudaStream_t stream) {
  cudaLaunchAttribute overlap{};
  overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  overlap.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(processors * kBlocksPerProcessor));
  config.blockDim = dim3(kThreads);
  config.stream = stream;
  config.attrs = &overlap;
  config.numAttrs = launch.in_form != GroupForm::bits && can_overlap() ? 1 : 0;
  CUDA_CHECK(cudaLaunchKernelEx(&config, kernel_for(launch), launch));
}

}  // namespace winnow::challenge
