// The half floats that codes of four bits stand for (centroids), as kernels look them up: the bytes
// of all are in registers, and PRMT chooses four of eight at a time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/device/host_device.h"

namespace winnow {

inline constexpr std::size_t kMostCentroids = 16;

// The low and the high bytes of 16 half floats; byte i % 4 of word i / 4 is number i's.
struct CentroidTable {
  std::uint32_t low[4] = {};
  std::uint32_t high[4] = {};
};

// PRMT (PTX ISA, prmt): byte i of the result is the one of the eight bytes (x, y) that bits 0 to 2
// of selector nibble i name, or eight copies of its sign where bit 3 is set. Of the selector the
// low 16 bits are read.
WINNOW_HOST_DEVICE inline std::uint32_t chosen_bytes(std::uint32_t x, std::uint32_t y,
                                                     std::uint32_t selector) {
#ifdef __CUDA_ARCH__
  std::uint32_t result;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(result) : "r"(x), "r"(y), "r"(selector));
  return result;
#else
  const std::uint64_t bytes = std::uint64_t{y} << 32 | x;
  std::uint32_t result = 0;
  for (int i = 0; i < 4; ++i) {
    const std::uint32_t nibble = selector >> (4 * i);
    const auto byte = static_cast<std::uint32_t>(bytes >> (8 * (nibble & 7)) & 0xff);
    result |= ((nibble & 8) == 0 ? byte : byte >> 7 != 0 ? 0xffu : 0u) << (8 * i);
  }
  return result;
#endif
}

// to = the eight half floats that the nibbles of `codes` stand for, two in a word, in their order.
// Four bytes at a time are chosen of numbers 0 to 7 and of 8 to 15, and of both by bit 3 of the
// codes: it is bit 2 of the nibbles of codes / 2, whose bit 3 does nothing, since bytes of equal
// bits are copies of their signs. 22 instructions.
WINNOW_HOST_DEVICE inline void look_up(const CentroidTable& of, std::uint32_t codes,
                                       std::uint32_t (&to)[4]) {
  const std::uint32_t within = codes & 0x77777777;
  for (int half = 0; half < 2; ++half) {
    const std::uint32_t at = within >> (16 * half);
    const std::uint32_t is_upper = chosen_bytes(0, 0xffffffff, codes >> (16 * half + 1));
    const std::uint32_t low = (chosen_bytes(of.low[0], of.low[1], at) & ~is_upper) |
                              (chosen_bytes(of.low[2], of.low[3], at) & is_upper);
    const std::uint32_t high = (chosen_bytes(of.high[0], of.high[1], at) & ~is_upper) |
                               (chosen_bytes(of.high[2], of.high[3], at) & is_upper);
    to[2 * half] = chosen_bytes(low, high, 0x5140);
    to[2 * half + 1] = chosen_bytes(low, high, 0x7362);
  }
}

}  // namespace winnow
