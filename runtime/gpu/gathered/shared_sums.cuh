// Sums of a pixel, four to a lane, that warps give to each other through shared memory.
#pragma once

#include <cstdint>

namespace winnow {

__device__ __forceinline__ void write_shared_if(bool is_wanted, std::uint32_t to,
                                                const float (&value)[4]) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.s32 p, %0, 0;\n@p st.shared.v4.f32 [%1], {%2, %3, %4, %5};\n}" ::
          "r"(static_cast<int>(is_wanted)),
      "r"(to), "f"(value[0]), "f"(value[1]), "f"(value[2]), "f"(value[3])
      : "memory");
}

// sum += what lies there: in the shared memory of the thread block, or at an address_in() the
// cluster (cluster.cuh).
template <bool kInCluster>
__device__ __forceinline__ void add_shared(float (&sum)[4], std::uint32_t from) {
  float value[4];
  if constexpr (kInCluster) {
#if __CUDA_ARCH__ >= 900
    asm volatile("ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(value[0]), "=f"(value[1]), "=f"(value[2]), "=f"(value[3])
                 : "r"(from)
                 : "memory");
#else
    __trap();
#endif
  } else {
    asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(value[0]), "=f"(value[1]), "=f"(value[2]), "=f"(value[3])
                 : "r"(from)
                 : "memory");
  }
  for (int i = 0; i < 4; ++i) sum[i] += value[i];
}

}  // namespace winnow
