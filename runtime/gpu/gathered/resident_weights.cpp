#include "runtime/gpu/gathered/resident_weights.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "runtime/gpu/gathered/column_batches.h"
#include "runtime/gpu/gathered/resident_index.h"
#include "runtime/gpu/gathered/weight_fragments.h"

namespace winnow {
namespace {

constexpr int kLanes = 32;
constexpr int kNeverFull = 1 << 20;  // stages of a ring: nothing ever leaves shared memory

// Batches of columns that leave out the same columns of pixels.
struct SkippingBatch {
  ColumnBatch batch;
  std::uint32_t skips = 0;
};

class Packer {
 public:
  Packer(const GatheredGroups& groups, const Conv& conv, const ResidentTile& tile,
         const ResidentGeometry& geometry, const std::vector<std::int32_t>& input_place,
         const std::vector<std::int32_t>& output_place)
      : groups_(groups),
        conv_(conv),
        tile_(tile),
        g_(geometry),
        place_(input_place),
        output_(output_place) {}

  ResidentConvWeights pack() {
    ResidentConvWeights packed;
    packed.groups = groups_.weight.rows();
    packed.channel = groups_.place;
    for (const std::int32_t channel : packed.channel) {
      packed.place.push_back(channel < 0 ? -1 : output_[static_cast<std::size_t>(channel)]);
    }
    std::vector<std::vector<SkippingBatch>> streams;
    for (std::int64_t group = 0; group < packed.groups; ++group) {
      for (int rank = 0; rank < g_.cluster; ++rank) {
        const std::vector<SkippingBatch> batches = batches_of(group, rank);
        for (int split = 0; split < g_.split; ++split) {
          auto& stream = streams.emplace_back();
          for (auto b = static_cast<std::size_t>(split); b < batches.size();
               b += static_cast<std::size_t>(g_.split)) {
            stream.push_back(batches[b]);
          }
        }
      }
    }
    write(streams, packed);
    return packed;
  }

 private:
  Tap tap_of_block(std::int64_t block) const {
    return tap_of(groups_.weight.column[static_cast<std::size_t>(block)], conv_);
  }
  std::int32_t place_of(std::int64_t channel) const {
    return place_[static_cast<std::size_t>(channel)];
  }
  bool is_in_map(std::int64_t y, std::int64_t x) const {
    return y >= 0 && y < g_.in_height && x >= 0 && x < g_.in_width;
  }
  std::int64_t input_y(int y, const Tap& tap) const {
    return y * conv_.stride[0] + tap.r * conv_.dilation[0] - conv_.padding[0];
  }
  std::int64_t input_x(int x, const Tap& tap) const {
    return x * conv_.stride[1] + tap.s * conv_.dilation[1] - conv_.padding[1];
  }

  // Columns of output pixels that a tap need not be multiplied for.
  std::uint32_t skips_of(const Tap& tap) const {
    std::uint32_t skips = 0;
    for (int x = 0; has_rows_by_lane(tile_.form) && x < tile_.form.width; ++x) {
      if (x >= g_.width || !is_in_map(0, input_x(x, tap))) skips |= 1u << x;
    }
    return skips;
  }
  // Whether a map has any pixel that the tap reads within the input.
  bool is_read(const Tap& tap) const {
    if (!has_rows_by_lane(tile_.form)) return true;
    bool has_line = false;
    for (int y = 0; y < g_.height; ++y) has_line |= is_in_map(input_y(y, tap), 0);
    return has_line && skips_of(tap) != (1u << tile_.form.width) - 1;
  }

  // The row in shared memory; of maps that are no points any row of the same banks.
  std::uint16_t row_of(std::int32_t place, std::int64_t r, std::int64_t s) const {
    if (has_rows_by_lane(tile_.form)) return static_cast<std::uint16_t>(place % kBankClasses);
    const std::int64_t local = place / kStageChannels % g_.rank_blocks;
    const std::int64_t pixel = r * conv_.dilation[0] * g_.pitch + s * conv_.dilation[1];
    return static_cast<std::uint16_t>(local * g_.block_rows() + pixel * kStageChannels +
                                      place % kStageChannels);
  }

  // Rows that may be read with weights of 0: of maps that are no points those of zeros.
  std::vector<std::uint16_t> fillers_of(int rank, int stage) const {
    std::vector<std::uint16_t> rows;
    for (int local = stage * g_.stage_blocks;
         local < std::min((stage + 1) * g_.stage_blocks, g_.rank_blocks); ++local) {
      const std::int32_t first = (rank * g_.rank_blocks + local) * kStageChannels;
      for (std::int32_t p = first;
           p < std::min<std::int64_t>(first + kStageChannels, conv_.in_channels); ++p) {
        rows.push_back(row_of(p, 0, 0));
      }
    }
    if (has_rows_by_lane(tile_.form)) {
      rows.clear();
      for (std::uint16_t row = 0; row < kBankClasses; ++row) rows.push_back(row);
    }
    return rows;
  }

  // In the order in which their stages arrive.
  std::vector<SkippingBatch> batches_of(std::int64_t group, int rank) const {
    std::map<std::uint32_t, std::vector<StageColumns>> columns;
    const BlockCsr& weight = groups_.weight;
    for (std::int64_t b = weight.begin[static_cast<std::size_t>(group)];
         b < weight.begin[static_cast<std::size_t>(group) + 1]; ++b) {
      const Tap tap = tap_of_block(b);
      const std::int32_t place = place_of(tap.channel), block = place / kStageChannels;
      if (block / g_.rank_blocks != rank || !is_read(tap)) continue;
      auto& stages = columns[skips_of(tap)];
      stages.resize(static_cast<std::size_t>(g_.stages));
      const int stage = block % g_.rank_blocks / g_.stage_blocks;
      stages[static_cast<std::size_t>(stage)].columns.push_back({b, row_of(place, tap.r, tap.s)});
    }
    std::vector<SkippingBatch> batches;
    for (auto& [skips, stages] : columns) {
      for (int s = 0; s < g_.stages; ++s) {
        stages[static_cast<std::size_t>(s)].fillers = fillers_of(rank, s);
      }
      for (const ColumnBatch& batch : batch_columns(stages, kNeverFull)) {
        const bool is_empty = std::ranges::all_of(
            batch.column, [](const GatheredColumn& c) { return c.block == kNoBlock; });
        if (!is_empty) batches.push_back({batch, skips});
      }
    }
    std::ranges::stable_sort(batches, {}, [](const SkippingBatch& b) { return b.batch.newest; });
    return batches;
  }

  void write(const std::vector<std::vector<SkippingBatch>>& streams,
             ResidentConvWeights& packed) const {
    const std::int64_t bytes = resident_record_bytes(tile_.form);
    std::size_t most = 1;
    for (const auto& stream : streams) most = std::max(most, stream.size());
    packed.capacity = static_cast<std::int64_t>(most);
    packed.records.resize((streams.size() * most + kResidentSpare) *
                          static_cast<std::size_t>(bytes));
    std::vector<ColumnBatch> all;
    for (std::size_t i = 0; i < streams.size(); ++i) {
      std::byte* record = packed.records.data() + i * most * static_cast<std::size_t>(bytes);
      for (const SkippingBatch& b : streams[i]) {
        write_fragment(groups_, b.batch, record);
        std::byte* rows = record + kFragmentBytes;
        has_rows_by_lane(tile_.form) ? write_map_codes(b, rows) : write_strip_codes(b, rows);
        record += bytes;
        all.push_back(b.batch);
      }
      write_head(streams[i], packed);
    }
    const double kept = static_cast<double>(std::max<std::int64_t>(1, groups_.weight.blocks()));
    packed.padding = static_cast<double>(all.size()) * kBatchColumns / kept;
    packed.conflicts = bank_conflicts(all);
  }

  void write_head(const std::vector<SkippingBatch>& stream, ResidentConvWeights& packed) const {
    for (int stage = 1; stage < kResidentStages; ++stage) {
      const auto first = std::ranges::find_if(
          stream, [&](const SkippingBatch& b) { return b.batch.newest >= stage; });
      packed.heads.push_back(static_cast<std::int32_t>(first - stream.begin()));
    }
    packed.heads.push_back(static_cast<std::int32_t>(stream.size()));
  }

  void write_strip_codes(const SkippingBatch& b, std::byte* to) const {
    std::uint16_t codes[kBatchColumns];
    for (int i = 0; i < kBatchColumns; ++i) {
      codes[i] = b.batch.column[static_cast<std::size_t>(i)].row;
    }
    std::memcpy(to, codes, sizeof(codes));
  }

  void write_map_codes(const SkippingBatch& b, std::byte* to) const {
    std::uint32_t codes[kLanes];
    for (int lane = 0; lane < kLanes; ++lane) {
      const auto& column = b.batch.column[static_cast<std::size_t>(lane % kBatchColumns)];
      const int second = lane / kBatchColumns;
      const int other = tile_.form.sets() > 1 ? map_row(column, 1, second) : 0;
      codes[lane] = map_code(map_row(column, 0, second), other, b.skips);
    }
    std::memcpy(to, codes, sizeof(codes));
  }

  // The row that a lane reads for the first pixel of a set; a row of zeros where the pixel's line
  // lies outside of the map.
  int map_row(const GatheredColumn& column, int set, int second) const {
    if (column.block == kNoBlock) return column.row;
    const Tap tap = tap_of_block(column.block);
    const std::int32_t place = place_of(tap.channel);
    const ResidentPixel pixel = pixel_of_pair(tile_.form, set * tile_.form.pair_width(), second);
    const std::int64_t y = input_y(pixel.y, tap);
    if (pixel.y >= g_.height || !is_in_map(y, 0)) return place % kBankClasses;
    const std::int64_t local = place / kStageChannels % g_.rank_blocks;
    const std::int64_t map =
        g_.zero_rows + (pixel.image * g_.rank_blocks + local) * g_.block_rows();
    return static_cast<int>(map + (y * g_.pitch + input_x(0, tap)) * kStageChannels +
                            place % kStageChannels);
  }

  const GatheredGroups& groups_;
  const Conv& conv_;
  ResidentTile tile_;
  ResidentGeometry g_;
  const std::vector<std::int32_t>& place_;
  const std::vector<std::int32_t>& output_;
};

}  // namespace

ResidentConvWeights pack_for_resident(const GatheredGroups& groups, const Conv& conv,
                                      const ResidentTile& tile, const ResidentGeometry& geometry,
                                      const std::vector<std::int32_t>& input_place,
                                      const std::vector<std::int32_t>& output_place) {
  return Packer(groups, conv, tile, geometry, input_place, output_place).pack();
}

}  // namespace winnow
