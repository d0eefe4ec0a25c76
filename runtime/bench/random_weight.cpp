#include "runtime/bench/random_weight.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace winnow {
namespace {

class Sequence {
 public:
  explicit Sequence(std::uint64_t seed) : state_(seed) {}

  std::uint32_t below(std::uint32_t bound) {
    state_ = state_ * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<std::uint32_t>(state_ >> 33) % bound;
  }

 private:
  std::uint64_t state_;
};

using Mask = std::vector<std::uint8_t>;

void keep_independently(Mask& mask, double sparsity, Sequence& random) {
  const auto limit = static_cast<std::uint32_t>(std::lround((1 - sparsity) * 100000));
  for (std::uint8_t& keep : mask) keep = random.below(100000) < limit ? 1 : 0;
}

void keep_in_every_row(Mask& mask, std::int64_t cols, double sparsity, Sequence& random) {
  const auto width = static_cast<std::size_t>(cols);
  const double wanted = std::round((1 - sparsity) * static_cast<double>(cols));
  const auto kept = static_cast<std::size_t>(std::max(wanted, 1.0));
  std::vector<std::size_t> columns(width);
  for (std::size_t row = 0; row < mask.size(); row += width) {
    std::iota(columns.begin(), columns.end(), 0);
    for (std::size_t i = 0; i < kept; ++i) {  // the first steps of a shuffle
      const std::size_t other = i + random.below(static_cast<std::uint32_t>(width - i));
      std::swap(columns[i], columns[other]);
      mask[row + columns[i]] = 1;
    }
  }
}

}  // namespace

CsrWeight random_weight(const WeightSize& size, double sparsity, RandomMask kind,
                        std::uint64_t seed) {
  Sequence random(seed);
  const std::int64_t rows = (size.channels + size.vector - 1) / size.vector;
  Mask mask(static_cast<std::size_t>(rows * size.cols));
  if (kind == RandomMask::balanced) {
    keep_in_every_row(mask, size.cols, sparsity, random);
  } else {
    keep_independently(mask, sparsity, random);
  }
  const CsrPattern pattern = build_csr_pattern(mask, size.channels, size.cols, size.vector);
  std::vector<float> values;
  for (std::int64_t i = 0; i < pattern.rows * pattern.row_length; ++i) {
    const std::int64_t row = i / pattern.row_length;
    const auto at =
        static_cast<std::size_t>(row * size.cols + pattern.column[static_cast<std::size_t>(i)]);
    for (int v = 0; v < size.vector; ++v) {
      const bool is_kept = mask[at] != 0 && row * size.vector + v < size.channels;
      values.push_back(is_kept ? static_cast<float>(random.below(2001)) / 1000.0f - 1.0f : 0.0f);
    }
  }
  return csr_weight(pattern, encode_f32(values));
}

}  // namespace winnow
