#include "runtime/gpu/gathered/ring_weights.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <numeric>
#include <set>

#include "runtime/gpu/gathered/column_batches.h"
#include "runtime/gpu/gathered/weight_fragments.h"

namespace winnow {
namespace {

class Packer {
 public:
  Packer(const GatheredGroups& groups, const Conv& conv, const RingTile& tile,
         const std::vector<std::int32_t>& input_place,
         const std::vector<std::int32_t>& output_place, bool adds)
      : groups_(groups),
        conv_(conv),
        tile_(tile),
        box_(box_of(tile, conv)),
        place_(input_place),
        output_place_(output_place),
        adds_(adds),
        order_(order_of_groups()) {}

  RingWeights pack() {
    RingWeights packed;
    packed.groups = groups_.weight.rows();
    for (const std::int64_t group : order_) {
      const auto begin = groups_.place.begin() + group * kGroupChannels;
      packed.channel.insert(packed.channel.end(), begin, begin + kGroupChannels);
    }
    for (const std::int32_t channel : packed.channel) {
      packed.place.push_back(channel < 0 ? -1 : output_place_[static_cast<std::size_t>(channel)]);
    }
    packed.stage_begin = {0};
    std::vector<std::vector<ColumnBatch>> all;
    for (std::int64_t first = 0; first < packed.groups; first += tile_.groups) {
      const std::int64_t end = std::min<std::int64_t>(first + tile_.groups, packed.groups);
      const std::vector<std::int32_t> addends = addends_of(packed.place, first, end);
      const std::vector<std::int32_t> stages = stages_of(first, end, addends.size());
      for (std::int64_t i = first; i < end; ++i) {
        all.push_back(batches_of(order_[static_cast<std::size_t>(i)], stages));
      }
      packed.stage_block.insert(packed.stage_block.end(), stages.begin(), stages.end());
      packed.addend_begin.push_back(static_cast<std::int32_t>(packed.stage_block.size()));
      packed.stage_block.insert(packed.stage_block.end(), addends.begin(), addends.end());
      packed.stage_begin.push_back(static_cast<std::int32_t>(packed.stage_block.size()));
    }
    write(all, packed);
    return packed;
  }

 private:
  // Warps of a thread block wait for each other: groups of similar length go together. Not where a
  // value is added, since neighbouring groups share its stages.
  std::vector<std::int64_t> order_of_groups() const {
    std::vector<std::int64_t> order(static_cast<std::size_t>(groups_.weight.rows()));
    std::iota(order.begin(), order.end(), 0);
    const auto columns = [&](std::int64_t g) {
      const auto at = groups_.weight.begin.begin() + g;
      return at[1] - at[0];
    };
    if (!adds_) std::ranges::stable_sort(order, std::greater(), columns);
    return order;
  }

  std::int32_t place_of(const Tap& tap) const {
    return place_[static_cast<std::size_t>(tap.channel)];
  }

  // Blocks of channels that one of the groups writes.
  std::vector<std::int32_t> addends_of(const std::vector<std::int32_t>& place, std::int64_t first,
                                       std::int64_t end) const {
    std::set<std::int32_t> blocks;
    for (std::int64_t row = first * kGroupChannels; adds_ && row < end * kGroupChannels; ++row) {
      const std::int32_t p = place[static_cast<std::size_t>(row)];
      if (p >= 0) blocks.insert(p / kStageChannels);
    }
    return {blocks.begin(), blocks.end()};
  }

  // Blocks of channels that one of the groups reads, filled up so that with the addends every tile
  // begins where the one before has left the ring and no stage wraps around in it.
  std::vector<std::int32_t> stages_of(std::int64_t first, std::int64_t end,
                                      std::size_t addends) const {
    std::set<std::int32_t> blocks;
    const BlockCsr& weight = groups_.weight;
    for (std::int64_t i = first; i < end; ++i) {
      const auto g = static_cast<std::size_t>(order_[static_cast<std::size_t>(i)]);
      for (std::int64_t b = weight.begin[g]; b < weight.begin[g + 1]; ++b) {
        const Tap tap = tap_of(weight.column[static_cast<std::size_t>(b)], conv_);
        blocks.insert(place_of(tap) / kStageChannels);
      }
    }
    if (blocks.empty()) blocks.insert(0);
    std::vector<std::int32_t> stages(blocks.begin(), blocks.end());
    const auto ring = static_cast<std::size_t>(tile_.stages);
    const std::size_t all = stages.size() + addends;
    const std::size_t count = all > ring ? (all + ring - 1) / ring * ring : std::bit_ceil(all);
    stages.resize(count - addends, -1);
    return stages;
  }

  std::uint16_t row_of(std::size_t stage, std::int32_t place, std::int64_t r,
                       std::int64_t s) const {
    const auto slot = static_cast<std::int64_t>(stage) % tile_.stages;
    const std::int64_t pixel = r * conv_.dilation[0] * box_.width + s * conv_.dilation[1];
    return static_cast<std::uint16_t>(slot * box_.rows() + pixel * kStageChannels +
                                      place % kStageChannels);
  }

  std::vector<ColumnBatch> batches_of(std::int64_t group,
                                      const std::vector<std::int32_t>& stages) const {
    std::vector<StageColumns> columns(stages.size());
    std::vector<std::size_t> stage_of(
        static_cast<std::size_t>((conv_.in_channels + kStageChannels - 1) / kStageChannels));
    for (std::size_t s = 0; s < stages.size() && stages[s] >= 0; ++s) {
      stage_of[static_cast<std::size_t>(stages[s])] = s;
      for (std::int32_t p = stages[s] * kStageChannels;
           p < std::min<std::int64_t>((stages[s] + 1) * kStageChannels, conv_.in_channels); ++p) {
        columns[s].fillers.push_back(row_of(s, p, 0, 0));
      }
    }
    const BlockCsr& weight = groups_.weight;
    for (std::int64_t b = weight.begin[static_cast<std::size_t>(group)];
         b < weight.begin[static_cast<std::size_t>(group) + 1]; ++b) {
      const Tap tap = tap_of(weight.column[static_cast<std::size_t>(b)], conv_);
      const std::int32_t place = place_of(tap);
      const std::size_t s = stage_of[static_cast<std::size_t>(place / kStageChannels)];
      columns[s].columns.push_back({b, row_of(s, place, tap.r, tap.s)});
    }
    return batch_columns(columns, tile_.stages);
  }

  void write(const std::vector<std::vector<ColumnBatch>>& all, RingWeights& packed) const {
    std::size_t most = 0, batches = 0;
    double reads = 0;
    for (const auto& group : all) {
      most = std::max(most, group.size());
      batches += group.size();
      reads += bank_conflicts(group) * static_cast<double>(group.size());
      packed.batches.push_back(static_cast<std::int32_t>(group.size()));
    }
    packed.capacity = static_cast<std::int64_t>(most);
    packed.records.resize(all.size() * most * kRecordBytes);
    for (std::size_t g = 0; g < all.size(); ++g) {
      write_group(all[g], packed.records.data() + g * most * kRecordBytes);
    }
    const double kept = static_cast<double>(std::max<std::int64_t>(1, groups_.weight.blocks()));
    packed.padding = static_cast<double>(batches) * kBatchColumns / kept;
    packed.conflicts = batches == 0 ? 1 : reads / static_cast<double>(batches);
  }

  void write_group(const std::vector<ColumnBatch>& batches, std::byte* records) const {
    int newest = -1, finished = 0;
    for (std::size_t b = 0; b < batches.size(); ++b) {
      write_fragment(groups_, batches[b], records + b * kRecordBytes);
      const std::size_t before = b == 0 ? batches.size() - 1 : b - 1;
      std::uint16_t codes[kBatchColumns];
      for (int i = 0; i < kBatchColumns; ++i) {
        codes[i] = batches[b].column[static_cast<std::size_t>(i)].row;
        if (i < batches[b].newest - newest) codes[i] |= kWaitBit;
        if (i < batches[b].finished - finished) codes[i] |= kReleaseBit;
      }
      newest = batches[b].newest;
      finished = batches[b].finished;
      std::memcpy(records + before * kRecordBytes + kFragmentBytes, codes, sizeof(codes));
    }
  }

  const GatheredGroups& groups_;
  const Conv& conv_;
  RingTile tile_;
  RingBox box_;
  const std::vector<std::int32_t>& place_;
  const std::vector<std::int32_t>& output_place_;
  bool adds_;
  std::vector<std::int64_t> order_;  // of groups, by thread block
};

}  // namespace

RingWeights pack_for_ring(const GatheredGroups& groups, const Conv& conv, const RingTile& tile,
                          const std::vector<std::int32_t>& input_place,
                          const std::vector<std::int32_t>& output_place, bool adds) {
  return Packer(groups, conv, tile, input_place, output_place, adds).pack();
}

}  // namespace winnow
