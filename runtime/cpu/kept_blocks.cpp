#include "runtime/cpu/kept_blocks.h"

#include <algorithm>

#include "runtime/base/error.h"

namespace winnow {
namespace {

bool is_zero(const float* values, int count) {
  return std::all_of(values, values + count, [](float x) { return x == 0; });
}

}  // namespace

KeptBlocks kept_blocks(const CsrWeight& weight) {
  const std::vector<float> values = decode(weight.values);
  KeptBlocks blocks{weight.channels, weight.cols, weight.vector, {0}, {}, {}};
  for (std::int64_t row = 0; row < weight.rows; ++row) {
    for (std::int64_t t = 0; t < weight.row_length; ++t) {
      const std::int64_t index = row * weight.row_length + t;
      const float* block = values.data() + index * weight.vector;
      if (is_zero(block, weight.vector)) continue;
      blocks.column.push_back(weight.column[index]);
      blocks.value.insert(blocks.value.end(), block, block + weight.vector);
    }
    blocks.begin.push_back(static_cast<std::int64_t>(blocks.column.size()));
  }
  return blocks;
}

KeptBlocks kept_blocks(std::span<const float> weight, std::int64_t channels, int vector) {
  const std::int64_t cols = channels == 0 ? 0 : static_cast<std::int64_t>(weight.size()) / channels;
  KeptBlocks blocks{channels, cols, vector, {0}, {}, {}};
  std::vector<float> block(vector);
  for (std::int64_t first = 0; first < channels; first += vector) {
    for (std::int64_t col = 0; col < cols; ++col) {
      for (std::int64_t i = 0; i < vector; ++i) {
        block[i] = first + i < channels ? weight[(first + i) * cols + col] : 0.0f;
      }
      if (is_zero(block.data(), vector)) continue;
      blocks.column.push_back(static_cast<std::uint32_t>(col));
      blocks.value.insert(blocks.value.end(), block.begin(), block.end());
    }
    blocks.begin.push_back(static_cast<std::int64_t>(blocks.column.size()));
  }
  return blocks;
}

KeptBlocks split_blocks(const KeptBlocks& blocks, int vector) {
  if (blocks.vector == vector) return blocks;
  if (blocks.vector % vector != 0) {
    fail(ErrorCode::internal, "blocks of ", blocks.vector, " channels do not split into ", vector);
  }
  KeptBlocks split{blocks.channels, blocks.cols, vector, {0}, {}, {}};
  for (std::int64_t row = 0; row < blocks.rows(); ++row) {
    for (int lane = 0; lane < blocks.vector; lane += vector) {
      if (row * blocks.vector + lane >= blocks.channels) break;
      for (std::int64_t i = blocks.begin[row]; i < blocks.begin[row + 1]; ++i) {
        const float* block = blocks.value.data() + i * blocks.vector + lane;
        if (is_zero(block, vector)) continue;
        split.column.push_back(blocks.column[i]);
        split.value.insert(split.value.end(), block, block + vector);
      }
      split.begin.push_back(static_cast<std::int64_t>(split.column.size()));
    }
  }
  return split;
}

std::vector<float> dense_weight(const KeptBlocks& blocks) {
  std::vector<float> dense(static_cast<std::size_t>(blocks.channels * blocks.cols));
  for (std::int64_t row = 0; row < blocks.rows(); ++row) {
    for (std::int64_t i = blocks.begin[row]; i < blocks.begin[row + 1]; ++i) {
      for (int lane = 0; lane < blocks.vector; ++lane) {
        const std::int64_t channel = row * blocks.vector + lane;
        if (channel >= blocks.channels) break;
        dense[channel * blocks.cols + blocks.column[i]] = blocks.value[i * blocks.vector + lane];
      }
    }
  }
  return dense;
}

}  // namespace winnow
