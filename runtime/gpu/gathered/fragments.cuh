// What a warp of the gathered convolution computes with: input rows gathered by ldmatrix, products
// by mma, results as half floats.
#pragma once

#include <cuda_fp16.h>

#include <cstdint>

namespace winnow {

struct Fragment {
  std::uint32_t word[4];
};

// Four 8 x 8 matrices of half floats, transposed; lane l has the address of row l % 8 of matrix
// l / 8.
__device__ __forceinline__ void load_matrices(Fragment& to, std::uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to.word[0]), "=r"(to.word[1]), "=r"(to.word[2]), "=r"(to.word[3])
               : "r"(address));
}

// sum[16 outputs][8 images] += weights[16][16] * inputs[16][8].
__device__ __forceinline__ void multiply(float (&sum)[4], const uint4& weights, std::uint32_t low,
                                         std::uint32_t high) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(weights.x), "r"(weights.y), "r"(weights.z), "r"(weights.w), "r"(low), "r"(high));
}

// What is not a number stays so.
__device__ __forceinline__ float at_least(float value, float least) {
  float result;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(value), "f"(least));
  return result;
}

// The average of 2 x 2 values, or the largest.
__device__ __forceinline__ float pooled(const float (&values)[4], bool is_average) {
  if (is_average) return (values[0] + values[1] + values[2] + values[3]) / 4;
  return at_least(at_least(values[0], values[1]), at_least(values[2], values[3]));
}

// Two images of one pixel and channel where `is_inside`, else zeros; past the caches that a kernel
// before may have filled.
__device__ __forceinline__ float2 load_images_if(bool is_inside, const __half* from) {
  std::uint32_t images = 0;
  asm volatile("{\n.reg .pred p;\nsetp.ne.s32 p, %1, 0;\n@p ld.global.cg.b32 %0, [%2];\n}"
               : "+r"(images)
               : "r"(static_cast<int>(is_inside)), "l"(from)
               : "memory");
  return __half22float2(*reinterpret_cast<const __half2*>(&images));
}

// The same from shared memory, always.
__device__ __forceinline__ float2 load_shared_images(std::uint32_t from) {
  std::uint32_t images;
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(images) : "r"(from) : "memory");
  return __half22float2(*reinterpret_cast<const __half2*>(&images));
}

// Stores two images of one pixel and channel where `is_inside`.
__device__ __forceinline__ void store_images_if(bool is_inside, __half* to, float first,
                                                float second) {
  const __half2 images = __floats2half2_rn(first, second);
  asm volatile("{\n.reg .pred p;\nsetp.ne.s32 p, %0, 0;\n@p st.global.b32 [%1], %2;\n}" ::"r"(
                   static_cast<int>(is_inside)),
               "l"(to), "r"(*reinterpret_cast<const std::uint32_t*>(&images))
               : "memory");
}

}  // namespace winnow
