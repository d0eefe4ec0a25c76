#include "runtime/bench/random_weight.h"

#include <cmath>
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

}  // namespace

CsrWeight random_weight(const WeightSize& size, double sparsity, std::uint64_t seed) {
  Sequence random(seed);
  const std::int64_t rows = (size.channels + size.vector - 1) / size.vector;
  std::vector<std::uint8_t> mask(static_cast<std::size_t>(rows * size.cols));
  const auto limit = static_cast<std::uint32_t>(std::lround((1 - sparsity) * 100000));
  for (std::uint8_t& keep : mask) keep = random.below(100000) < limit ? 1 : 0;
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
