#include "runtime/gpu/gathered/gathered_groups.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "runtime/gpu/gathered/gathered_sizes.h"

namespace winnow {
namespace {

// Column numbers over all input channels, for the row of blocks that begins with `channel`.
std::uint32_t whole_column(std::uint32_t column, std::int64_t channel, const Conv& conv) {
  const std::int64_t taps = conv.kernel[0] * conv.kernel[1];
  const std::int64_t inputs = conv.in_channels / conv.groups;
  const std::int64_t group = channel / (conv.out_channels / conv.groups);
  return column + static_cast<std::uint32_t>(group * inputs * taps);
}

using Rows = std::map<std::uint32_t, std::array<float, kGroupChannels>>;  // by column

// Adds the rows of `weight` that lie in channels [first, first + 16).
void collect(const BlockCsr& weight, const Conv& conv, std::int64_t first, Rows& rows) {
  const std::int64_t end = std::min(first + kGroupChannels, weight.channels);
  for (std::int64_t row = first / weight.vector; row * weight.vector < end; ++row) {
    for (std::int64_t b = weight.begin[static_cast<std::size_t>(row)];
         b < weight.begin[static_cast<std::size_t>(row) + 1]; ++b) {
      for (int v = 0; v < weight.vector; ++v) {
        const std::int64_t channel = row * weight.vector + v;
        const float value = weight.value[static_cast<std::size_t>(b * weight.vector + v)];
        if (channel < first || channel >= end || value == 0) continue;
        const std::uint32_t column = weight.column[static_cast<std::size_t>(b)];
        rows[whole_column(column, channel, conv)][static_cast<std::size_t>(channel - first)] =
            value;
      }
    }
  }
}

}  // namespace

GatheredGroups gathered_groups(const BlockCsr& weight, const Conv& conv) {
  GatheredGroups result;
  BlockCsr& groups = result.weight;
  groups.channels = weight.channels;
  groups.cols = conv.in_channels * conv.kernel[0] * conv.kernel[1];
  groups.vector = kGroupChannels;
  groups.begin = {0};
  for (std::int64_t first = 0; first < weight.channels; first += kGroupChannels) {
    Rows rows;
    collect(weight, conv, first, rows);
    for (const auto& [column, values] : rows) {
      groups.column.push_back(column);
      groups.value.insert(groups.value.end(), values.begin(), values.end());
    }
    groups.begin.push_back(groups.blocks());
  }
  result.place.resize(static_cast<std::size_t>(groups.rows() * kGroupChannels), -1);
  std::iota(result.place.begin(), result.place.begin() + weight.channels, 0);
  return result;
}

}  // namespace winnow
