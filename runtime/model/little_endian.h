// Numbers as files hold them: little-endian, at any alignment. Sizes that cannot wrap.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <span>
#include <vector>

namespace winnow {

// Every machine with an NVIDIA GPU is little-endian, so numbers are copied as they are.
static_assert(std::endian::native == std::endian::little);

// Requires sizeof(T) readable bytes at `at`.
template <typename T>
T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

template <typename T>
void append(std::vector<std::byte>& out, T value) {
  const std::size_t at = out.size();
  out.resize(at + sizeof(T));
  std::memcpy(out.data() + at, &value, sizeof(T));
}

inline void append_bytes(std::vector<std::byte>& out, std::span<const std::byte> bytes) {
  out.insert(out.end(), bytes.begin(), bytes.end());
}

// More than any real size: the result of arithmetic that would wrap.
constexpr std::uint64_t kTooMany = std::numeric_limits<std::uint64_t>::max();

constexpr std::uint64_t saturating_sum(std::initializer_list<std::uint64_t> terms) {
  std::uint64_t sum = 0;
  for (const std::uint64_t term : terms) {
    if (__builtin_add_overflow(sum, term, &sum)) return kTooMany;
  }
  return sum;
}

constexpr std::uint64_t saturating_product(std::initializer_list<std::uint64_t> factors) {
  std::uint64_t product = 1;
  bool wrapped = false;
  for (const std::uint64_t factor : factors) {
    if (factor == 0) return 0;
    wrapped = __builtin_mul_overflow(product, factor, &product) || wrapped;
  }
  return wrapped ? kTooMany : product;
}

}  // namespace winnow
