#include "runtime/base/checksum.h"

#include <array>
#include <bit>
#include <cstring>

#ifdef __x86_64__
#include <nmmintrin.h>
#endif

namespace winnow {
namespace {

constexpr std::uint32_t kPolynomial = 0x82f6'3b78u;  // 0x1edc6f41 with its bits reversed
constexpr std::size_t kSlices = 8;                   // bytes taken at once
using Tables = std::array<std::array<std::uint32_t, 256>, kSlices>;

// kTables[k][b] is the effect of byte b followed by k zero bytes.
constexpr Tables make_tables() {
  Tables tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (crc & 1 ? kPolynomial : 0);
    tables[0][byte] = crc;
  }
  for (std::size_t k = 1; k < kSlices; ++k) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t before = tables[k - 1][byte];
      tables[k][byte] = (before >> 8) ^ tables[0][before & 0xff];
    }
  }
  return tables;
}

constexpr Tables kTables = make_tables();

std::uint64_t load_word(const std::byte* bytes) {
  static_assert(std::endian::native == std::endian::little);
  std::uint64_t word;
  std::memcpy(&word, bytes, sizeof(word));
  return word;
}

#ifdef __x86_64__
__attribute__((target("sse4.2"))) std::uint32_t crc32c_by_instruction(
    std::span<const std::byte> bytes, std::uint32_t seed) {
  std::uint64_t crc = ~seed;
  const std::byte* at = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= 8; left -= 8, at += 8) crc = _mm_crc32_u64(crc, load_word(at));
  auto tail = static_cast<std::uint32_t>(crc);
  for (; left > 0; --left, ++at) tail = _mm_crc32_u8(tail, std::to_integer<std::uint8_t>(*at));
  return ~tail;
}
#endif

}  // namespace

std::uint32_t crc32c_by_tables(std::span<const std::byte> bytes, std::uint32_t seed) {
  std::uint32_t crc = ~seed;
  const std::byte* at = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= kSlices; left -= kSlices, at += kSlices) {
    const std::uint64_t word = load_word(at) ^ crc;
    crc = 0;
    for (std::size_t k = 0; k < kSlices; ++k) {
      crc ^= kTables[kSlices - 1 - k][(word >> (8 * k)) & 0xff];
    }
  }
  for (; left > 0; --left, ++at) {
    crc = (crc >> 8) ^ kTables[0][(crc ^ std::to_integer<std::uint32_t>(*at)) & 0xff];
  }
  return ~crc;
}

std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t seed) {
#ifdef __x86_64__
  static const bool has_instruction = __builtin_cpu_supports("sse4.2");
  if (has_instruction) return crc32c_by_instruction(bytes, seed);
#endif
  return crc32c_by_tables(bytes, seed);
}

}  // namespace winnow
