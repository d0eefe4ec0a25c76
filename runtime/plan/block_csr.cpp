#include "runtime/plan/block_csr.h"

#include <algorithm>
#include <numeric>

#include "runtime/base/error.h"

namespace winnow {
namespace {

bool is_zero(std::span<const float> block) {
  return std::ranges::all_of(block, [](float x) { return x == 0; });
}

void append_block(BlockCsr& weight, std::uint32_t column, std::span<const float> block) {
  weight.column.push_back(column);
  weight.value.insert(weight.value.end(), block.begin(), block.end());
}

void end_row(BlockCsr& weight) {
  weight.begin.push_back(weight.blocks());
}

}  // namespace

BlockCsr block_csr(const CsrWeight& weight, Pads pads) {
  const std::vector<float> values = decode(weight.values);
  BlockCsr result{weight.channels, weight.cols, weight.vector, {0}, {}, {}};
  const auto width = static_cast<std::size_t>(weight.vector);
  result.column.reserve(weight.column.size());
  result.value.reserve(values.size());
  for (std::int64_t row = 0; row < weight.rows; ++row) {
    for (std::int64_t t = 0; t < weight.row_length; ++t) {
      const auto index = static_cast<std::size_t>(row * weight.row_length + t);
      const auto block = std::span(values).subspan(index * width, width);
      if (pads == Pads::drop && is_zero(block)) continue;
      append_block(result, weight.column[index], block);
    }
    end_row(result);
  }
  return result;
}

BlockCsr block_csr(std::span<const float> weight, std::int64_t channels, int vector) {
  const std::int64_t cols = channels == 0 ? 0 : static_cast<std::int64_t>(weight.size()) / channels;
  BlockCsr result{channels, cols, vector, {0}, {}, {}};
  std::vector<float> block(static_cast<std::size_t>(vector));
  for (std::int64_t first = 0; first < channels; first += vector) {
    for (std::int64_t col = 0; col < cols; ++col) {
      for (std::int64_t i = 0; i < vector; ++i) {
        block[i] = first + i < channels ? weight[(first + i) * cols + col] : 0.0f;
      }
      if (!is_zero(block)) append_block(result, static_cast<std::uint32_t>(col), block);
    }
    end_row(result);
  }
  return result;
}

BlockCsr split_blocks(const BlockCsr& weight, int vector) {
  if (weight.vector == vector) return weight;
  if (weight.vector % vector != 0) {
    fail(ErrorCode::internal, "blocks of ", weight.vector, " channels do not split into ", vector);
  }
  BlockCsr split{weight.channels, weight.cols, vector, {0}, {}, {}};
  for (std::int64_t row = 0; row < weight.rows(); ++row) {
    for (int lane = 0; lane < weight.vector; lane += vector) {
      if (row * weight.vector + lane >= weight.channels) break;
      for (std::int64_t i = weight.begin[row]; i < weight.begin[row + 1]; ++i) {
        const std::span<const float> block(weight.value.data() + i * weight.vector + lane,
                                           static_cast<std::size_t>(vector));
        if (!is_zero(block)) append_block(split, weight.column[i], block);
      }
      end_row(split);
    }
  }
  return split;
}

double pads_per_block(const CsrWeight& weight) {
  const auto kept = std::accumulate(weight.kept.begin(), weight.kept.end(), std::int64_t{0});
  const std::int64_t stored = weight.rows * weight.row_length;
  return kept == 0 ? 0 : static_cast<double>(stored - kept) / static_cast<double>(kept);
}

std::vector<float> dense_weight(const BlockCsr& weight) {
  std::vector<float> dense(static_cast<std::size_t>(weight.channels * weight.cols));
  for (std::int64_t row = 0; row < weight.rows(); ++row) {
    for (std::int64_t i = weight.begin[row]; i < weight.begin[row + 1]; ++i) {
      for (int lane = 0; lane < weight.vector; ++lane) {
        const std::int64_t channel = row * weight.vector + lane;
        if (channel >= weight.channels) break;
        dense[channel * weight.cols + weight.column[i]] = weight.value[i * weight.vector + lane];
      }
    }
  }
  return dense;
}

}  // namespace winnow
