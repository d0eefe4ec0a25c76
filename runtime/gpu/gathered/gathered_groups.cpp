#include "runtime/gpu/gathered/gathered_groups.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <span>
#include <type_traits>

#include "runtime/gpu/gathered/channel_cover.h"
#include "runtime/gpu/gathered/gathered_sizes.h"

namespace winnow {
namespace {

struct Kept {
  std::uint32_t column;  // over all input channels
  float value;
};

// Column numbers over all input channels, for an output channel.
std::uint32_t whole_column(std::uint32_t column, std::int64_t channel, const Conv& conv) {
  const std::int64_t taps = conv.kernel[0] * conv.kernel[1];
  const std::int64_t inputs = conv.in_channels / conv.groups;
  const std::int64_t group = channel / (conv.out_channels / conv.groups);
  return column + static_cast<std::uint32_t>(group * inputs * taps);
}

// What each output channel keeps, columns increasing.
std::vector<std::vector<Kept>> kept_by_channel(const BlockCsr& weight, const Conv& conv) {
  std::vector<std::vector<Kept>> kept(static_cast<std::size_t>(weight.channels));
  for (std::int64_t row = 0; row < weight.rows(); ++row) {
    for (std::int64_t b = weight.begin[static_cast<std::size_t>(row)];
         b < weight.begin[static_cast<std::size_t>(row) + 1]; ++b) {
      for (int v = 0; v < weight.vector; ++v) {
        const std::int64_t channel = row * weight.vector + v;
        const float value = weight.value[static_cast<std::size_t>(b * weight.vector + v)];
        if (channel >= weight.channels || value == 0) continue;
        kept[static_cast<std::size_t>(channel)].push_back(
            {whole_column(weight.column[static_cast<std::size_t>(b)], channel, conv), value});
      }
    }
  }
  return kept;
}

// The columns of every `size` channels.
std::vector<KeptColumns> units_of(const std::vector<std::vector<Kept>>& kept, std::size_t size) {
  std::vector<KeptColumns> units((kept.size() + size - 1) / size);
  for (std::size_t channel = 0; channel < kept.size(); ++channel) {
    KeptColumns& unit = units[channel / size];
    for (const Kept& k : kept[channel]) unit.push_back(k.column);
  }
  for (KeptColumns& unit : units) {
    std::ranges::sort(unit);
    unit.erase(std::ranges::unique(unit).begin(), unit.end());
  }
  return units;
}

// Appends groups of 16 rows; remembers where each column of a group went.
class Appender {
 public:
  Appender(const std::vector<std::vector<Kept>>& kept, BlockCsr& groups)
      : kept_(kept), groups_(groups), block_of_(static_cast<std::size_t>(groups.cols), -1) {}

  // Rows of channel -1 are empty.
  void append(const std::int32_t* channels) {
    const std::int64_t first = groups_.blocks();
    for (std::size_t row = 0; row < kGroupChannels; ++row) {
      for (const Kept& k : kept_of(channels[row])) {
        if (block_of_[k.column] >= first) continue;
        block_of_[k.column] = first;  // the right block follows when all columns are known
        groups_.column.push_back(k.column);
      }
    }
    std::sort(groups_.column.begin() + first, groups_.column.end());
    for (std::int64_t b = first; b < groups_.blocks(); ++b) {
      block_of_[groups_.column[static_cast<std::size_t>(b)]] = b;
    }
    groups_.value.resize(groups_.column.size() * kGroupChannels, 0.0f);
    for (std::size_t row = 0; row < kGroupChannels; ++row) {
      for (const Kept& k : kept_of(channels[row])) {
        const auto block = static_cast<std::size_t>(block_of_[k.column]);
        groups_.value[block * kGroupChannels + row] = k.value;
      }
    }
    groups_.begin.push_back(groups_.blocks());
  }

 private:
  std::span<const Kept> kept_of(std::int32_t channel) const {
    if (channel < 0) return {};
    return kept_[static_cast<std::size_t>(channel)];
  }

  const std::vector<std::vector<Kept>>& kept_;
  BlockCsr& groups_;
  std::vector<std::int64_t> block_of_;  // by column: of the last group that has it
};

}  // namespace

GatheredGroups gathered_groups(const BlockCsr& weight, const Conv& conv) {
  const std::vector<std::vector<Kept>> kept = kept_by_channel(weight, conv);
  const int unit = std::min(weight.vector, kGroupChannels);
  const std::vector<std::int32_t> order =
      cover_order(units_of(kept, static_cast<std::size_t>(unit)), kGroupChannels / unit);

  GatheredGroups result;
  for (const std::int32_t u : order) {
    for (int i = 0; i < unit; ++i) {
      const std::int64_t channel = std::int64_t{u} * unit + i;
      result.place.push_back(channel < weight.channels ? static_cast<std::int32_t>(channel) : -1);
    }
  }
  const std::size_t rows = (result.place.size() + kGroupChannels - 1) / kGroupChannels;
  result.place.resize(rows * kGroupChannels, -1);
  BlockCsr& groups = result.weight;
  groups.channels = weight.channels;
  groups.cols = conv.in_channels * conv.kernel[0] * conv.kernel[1];
  groups.vector = kGroupChannels;
  groups.begin = {0};
  Appender appender(kept, groups);
  for (std::size_t g = 0; g < rows; ++g) appender.append(result.place.data() + g * kGroupChannels);
  return result;
}

GatheredGroups with_sorted_rows(GatheredGroups groups, const std::vector<std::int32_t>& place) {
  BlockCsr& weight = groups.weight;
  for (std::int64_t g = 0; g < weight.rows(); ++g) {
    std::int32_t* const channels = groups.place.data() + g * kGroupChannels;
    const auto lies_at = [&](int row) {
      const std::int32_t channel = channels[row];
      return channel < 0 ? std::numeric_limits<std::int32_t>::max()
                         : place[static_cast<std::size_t>(channel)];
    };
    std::array<int, kGroupChannels> rows;
    std::iota(rows.begin(), rows.end(), 0);
    std::ranges::stable_sort(rows, {}, lies_at);
    const auto sort = [&](auto* values) {
      std::array<std::remove_reference_t<decltype(*values)>, kGroupChannels> sorted;
      for (std::size_t i = 0; i < kGroupChannels; ++i) sorted[i] = values[rows[i]];
      std::ranges::copy(sorted, values);
    };
    for (std::int64_t b = weight.begin[static_cast<std::size_t>(g)];
         b < weight.begin[static_cast<std::size_t>(g) + 1]; ++b) {
      sort(weight.value.data() + b * kGroupChannels);
    }
    sort(channels);
  }
  return groups;
}

double covered_share(const GatheredGroups& groups) {
  const double all = static_cast<double>(groups.weight.rows() * groups.weight.cols);
  return all > 0 ? static_cast<double>(groups.weight.blocks()) / all : 0;
}

std::vector<float> row_biases(const std::vector<std::int32_t>& channel,
                              std::span<const float> bias) {
  std::vector<float> biases(channel.size(), 0.0f);
  for (std::size_t row = 0; row < biases.size(); ++row) {
    if (channel[row] >= 0) biases[row] = bias[static_cast<std::size_t>(channel[row])];
  }
  return biases;
}

}  // namespace winnow
