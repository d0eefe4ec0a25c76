// Seeded values that are equal with every standard library.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/base/half.h"
#include "runtime/model/csr.h"
#include "runtime/plan/session.h"
#include "runtime/reference/operations.h"

namespace winnow {

class RandomValues {
 public:
  explicit RandomValues(std::uint64_t seed) : state_(seed) {}

  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(next()) % bound; }

  // In [-scale, scale), representable as a half float, so that fp16 kernels get what the reference
  // gets.
  float real() {
    const float value = static_cast<float>(next() % 2048) / 1024.0f - 1.0f;
    return to_float(to_half(scale * value));
  }

  std::vector<float> reals(std::size_t count) {
    std::vector<float> values(count);
    for (float& value : values) value = real();
    return values;
  }

  reference::Array array(const Shape& shape) {
    return {shape, reals(static_cast<std::size_t>(element_count(shape)))};
  }

  // A weight [channels, cols] that keeps about `density` of its blocks of `vector` channels.
  CsrWeight weight(std::int64_t channels, std::int64_t cols, int vector, double density);

  // The same with rows of blocks of these lengths.
  CsrWeight weight(const std::vector<std::int64_t>& lengths, std::int64_t cols, int vector);

  float scale = 1.0f;  // a power of two, 1 / 64 or more

 private:
  CsrWeight masked_weight(const std::vector<std::uint8_t>& mask, std::int64_t channels,
                          std::int64_t cols, int vector);

  std::uint32_t next() {
    state_ = state_ * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<std::uint32_t>(state_ >> 33);
  }

  std::uint64_t state_;
};

inline CsrWeight RandomValues::weight(std::int64_t channels, std::int64_t cols, int vector,
                                      double density) {
  const std::int64_t rows = (channels + vector - 1) / vector;
  std::vector<std::uint8_t> mask(static_cast<std::size_t>(rows * cols));
  const auto limit = static_cast<std::size_t>(density * 1000.0);
  for (std::uint8_t& keep : mask) keep = below(1000) < limit ? 1 : 0;
  return masked_weight(mask, channels, cols, vector);
}

inline CsrWeight RandomValues::weight(const std::vector<std::int64_t>& lengths, std::int64_t cols,
                                      int vector) {
  std::vector<std::uint8_t> mask;
  for (const std::int64_t length : lengths) {
    for (std::int64_t col = 0; col < cols; ++col) mask.push_back(col < length ? 1 : 0);
  }
  return masked_weight(mask, static_cast<std::int64_t>(lengths.size()) * vector, cols, vector);
}

// Pads and channels beyond the last are 0.
inline CsrWeight RandomValues::masked_weight(const std::vector<std::uint8_t>& mask,
                                             std::int64_t channels, std::int64_t cols, int vector) {
  const CsrPattern pattern = build_csr_pattern(mask, channels, cols, vector);
  std::vector<float> values;
  for (std::int64_t row = 0; row < pattern.rows; ++row) {
    for (std::int64_t u = 0; u < pattern.row_length; ++u) {
      const auto column = pattern.column[static_cast<std::size_t>(row * pattern.row_length + u)];
      const bool is_kept = mask[static_cast<std::size_t>(row * cols + column)] != 0;
      for (int v = 0; v < vector; ++v) {
        const bool exists = row * vector + v < channels;
        values.push_back(is_kept && exists ? real() : 0.0f);
      }
    }
  }
  return csr_weight(pattern, encode_f32(values));
}

}  // namespace winnow
