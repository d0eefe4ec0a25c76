#include "runtime/gpu/stem/stem_weights.h"

#include <algorithm>

#include "runtime/base/half.h"
#include "runtime/gpu/stem/stem_tile.h"

namespace winnow {
namespace {

constexpr int kLanes = 32;
constexpr int kWords = 8;  // of a lane, for a chunk and a batch

// [chunks * 32, batches * 16] by output channel as it lies and tap, zeros where there is none.
class Matrix {
 public:
  Matrix(const Conv& conv, std::int64_t rows)
      : taps_(stem_batches(conv) * kBatchColumns),
        values_(static_cast<std::size_t>(rows * taps_)) {}

  float& at(std::int64_t row, std::int64_t tap) {
    return values_[static_cast<std::size_t>(row * taps_ + tap)];
  }
  // Taps `tap` and `tap` + 1, the first in the lower half.
  std::uint32_t pair(std::int64_t row, std::int64_t tap) {
    const std::uint32_t low = to_half(at(row, tap)).bits, high = to_half(at(row, tap + 1)).bits;
    return low | high << 16;
  }

 private:
  std::int64_t taps_;
  std::vector<float> values_;
};

Matrix matrix_of(const Conv& conv, std::int64_t rows, std::span<const float> weight,
                 std::span<const std::int32_t> place) {
  Matrix matrix(conv, rows);
  const std::int64_t own_taps = stem_taps(conv) / conv.groups;
  const std::int64_t group_channels = conv.out_channels / conv.groups;
  for (std::int64_t k = 0; k < conv.out_channels; ++k) {
    const std::int64_t first = k / group_channels * own_taps;  // tap of its group
    for (std::int64_t t = 0; t < own_taps; ++t) {
      matrix.at(place[static_cast<std::size_t>(k)], first + t) =
          weight[static_cast<std::size_t>(k * own_taps + t)];
    }
  }
  return matrix;
}

// Word w of a lane (PTX ISA, "Matrix fragments for mma.m16n8k16"). Channels as rows: two matrices A
// of 16 rows, of which the lane has rows lane / 4 and 8 further. Channels as columns: four matrices
// B of 8 columns; column n of the j-th is channel n / 2 * 8 + 2 j + n % 2, so that a lane's sums
// are those of eight neighbouring channels.
std::uint32_t word_of(Matrix& matrix, StemOutput output, std::int64_t chunk, std::int64_t batch,
                      int lane, int w) {
  const int group = lane / 4;
  if (output == StemOutput::images) {
    const std::int64_t row = chunk * kStemChunk + w / 4 * 16 + group + w % 2 * 8;
    return matrix.pair(row, batch * kBatchColumns + lane % 4 * 2 + w % 4 / 2 * 8);
  }
  const std::int64_t channel = chunk * kStemChunk + group / 2 * 8 + w / 2 * 2 + group % 2;
  return matrix.pair(channel, batch * kBatchColumns + lane % 4 * 2 + w % 2 * 8);
}

}  // namespace

StemWeights pack_for_stem(const Conv& conv, StemOutput output, std::span<const float> weight,
                          std::span<const float> bias, std::span<const std::int32_t> place) {
  StemWeights packed;
  packed.chunks = (conv.out_channels + kStemChunk - 1) / kStemChunk;
  const std::int64_t rows = packed.chunks * kStemChunk;
  Matrix matrix = matrix_of(conv, rows, weight, place);
  packed.bias.resize(static_cast<std::size_t>(rows));
  for (std::size_t k = 0; k < bias.size(); ++k) {
    packed.bias[static_cast<std::size_t>(place[k])] = bias[k];
  }
  for (std::int64_t chunk = 0; chunk < packed.chunks; ++chunk) {
    for (std::int64_t batch = 0; batch < stem_batches(conv); ++batch) {
      for (int half = 0; half < 2; ++half) {
        for (int lane = 0; lane < kLanes; ++lane) {
          for (int w = half * kWords / 2; w < (half + 1) * kWords / 2; ++w) {
            packed.words.push_back(word_of(matrix, output, chunk, batch, lane, w));
          }
        }
      }
    }
  }
  return packed;
}

}  // namespace winnow
