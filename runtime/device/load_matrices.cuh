// Matrices of shared memory in the registers of a warp.
#pragma once

#include <cstdint>

namespace winnow {

// Four 8 x 8 matrices of 16-bit elements, transposed: the lane has the address of row lane % 8 of
// matrix lane / 8, and gets of each matrix column lane / 4 of the rows 2 (lane % 4) and the next.
__device__ __forceinline__ void load_matrices(std::uint32_t address, std::uint32_t (&m)[4]) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(m[0]), "=r"(m[1]), "=r"(m[2]), "=r"(m[3])
               : "r"(address)
               : "memory");
}

}  // namespace winnow
