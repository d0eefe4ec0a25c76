// How a warp of a narrow linear layer gets the inputs of a chunk (narrow_index.h) into registers.
#pragma once

#include <cuda_fp16.h>

#include <cstdint>

#include "runtime/gpu/linear/linear_epilogue.cuh"
#include "runtime/gpu/linear/narrow_index.h"
#include "runtime/gpu/linear/row_major_values.cuh"

namespace winnow {

struct NarrowArguments {
  const uint4* weights;  // [chunks][2 steps][tiles][32 lanes], as pack_narrow_weights() has them
  const float* bias;     // [tiles * 16]
  const __half* x;
  RowMajorValues y;  // its features are the layer's outputs
  NarrowChunks chunks;
  std::uint32_t features;  // all inputs
  std::uint32_t images, groups;
  LinearEpilogue epilogue;
};

// A lane's part of a chunk, as matrix B has it; zeros where there is nothing.
struct ChunkInputs {
  std::uint32_t word[4];
};

__device__ __forceinline__ std::uint32_t lane_of_thread() {
  return threadIdx.x % 32;
}

// Inputs are read past the first-level cache: a launch that was still running when this one began
// may have left old values of the same memory there. `volatile` and the clobber keep the reads
// behind the wait for the launches before.
// kWholeOctets: eight inputs from a multiple of 8 on exist all or none, at a multiple of 16 bytes.
template <bool kWholeOctets>
struct RowMajorReader {
  __device__ __forceinline__ static ChunkInputs read(const NarrowArguments& a, std::uint32_t group,
                                                     std::uint32_t chunk) {
    const std::uint32_t image = group * kNarrowImages + lane_of_thread() / 4;
    const std::uint32_t first = chunk * kNarrowChunk + first_neighbour(lane_of_thread());
    const bool exists = image < a.images && first < a.features && chunk < a.chunks.all;
    const __half* from = a.x + std::size_t{image} * a.features + first;
    return kWholeOctets ? read_octet(from, exists)
                        : read_halves(from, exists ? a.features - first : 0);
  }

  __device__ __forceinline__ static ChunkInputs read_octet(const __half* from, bool exists) {
    ChunkInputs inputs{};
    asm volatile(
        "{\n.reg .pred p;\nsetp.ne.s32 p, %4, 0;\n"
        "@p ld.global.cg.v4.b32 {%0, %1, %2, %3}, [%5];\n}"
        : "+r"(inputs.word[0]), "+r"(inputs.word[1]), "+r"(inputs.word[2]), "+r"(inputs.word[3])
        : "r"(static_cast<int>(exists)), "l"(from)
        : "memory");
    return inputs;
  }

  // Of eight the first `count`, one by one.
  __device__ __forceinline__ static ChunkInputs read_halves(const __half* from,
                                                            std::uint32_t count) {
    ChunkInputs inputs{};
#pragma unroll
    for (std::uint32_t i = 0; i < 8; ++i) {
      std::uint16_t half = 0;
      if (i < count)
        asm volatile("ld.global.cg.b16 %0, [%1];" : "=h"(half) : "l"(from + i) : "memory");
      inputs.word[i / 2] |= std::uint32_t{half} << i % 2 * 16;
    }
    return inputs;
  }

  __device__ __forceinline__ static void turn(const NarrowArguments&, std::uint32_t, ChunkInputs&) {
  }
};

// What is beside the last image stays in sums of its own.
struct MapReader {
  __device__ __forceinline__ static ChunkInputs read(const NarrowArguments& a, std::uint32_t group,
                                                     std::uint32_t chunk) {
    static_assert(kNarrowWord * sizeof(__half) == 128);
    const __half* from = a.x + map_offset(a.chunks, group, chunk, lane_of_thread());
    ChunkInputs inputs{};
    asm volatile(
        "{\n.reg .pred p;\nsetp.ne.s32 p, %4, 0;\n"
        "@p ld.global.cg.b32 %0, [%5];\n@p ld.global.cg.b32 %1, [%5 + 128];\n"
        "@p ld.global.cg.b32 %2, [%5 + 256];\n@p ld.global.cg.b32 %3, [%5 + 384];\n}"
        : "+r"(inputs.word[0]), "+r"(inputs.word[1]), "+r"(inputs.word[2]), "+r"(inputs.word[3])
        : "r"(static_cast<int>(chunk < a.chunks.all)), "l"(from)
        : "memory");
    return inputs;
  }

  // From two images of an input to two inputs of an image. All lanes of the warp take part.
  // Channels that fill the last block up may hold anything, so they become zeros.
  __device__ __forceinline__ static void turn(const NarrowArguments& a, std::uint32_t chunk,
                                              ChunkInputs& inputs) {
    const std::uint32_t count = a.chunks.inputs_of(chunk);
#pragma unroll
    for (std::uint32_t w = 0; w < 4; ++w) {
      std::uint32_t& word = inputs.word[w];
      if (input_of_word(lane_of_thread(), w) >= count) word = 0;
      asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(word) : "r"(word));
    }
  }
};

}  // namespace winnow
