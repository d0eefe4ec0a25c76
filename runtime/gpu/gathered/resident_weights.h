// Weights of the gathered convolution as its kernel with a resident input reads them. Pure host
// code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/gpu/gathered/gathered_groups.h"
#include "runtime/gpu/gathered/resident_tile.h"

namespace winnow {

// Records that a warp may read beyond its last one.
inline constexpr int kResidentSpare = 16;

// A stream is what one warp of one thread block reads: a share of the columns of a group.
struct ResidentConvWeights {
  std::vector<std::byte> records;     // [streams][capacity], and kResidentSpare of zeros
  std::vector<std::int32_t> heads;    // [streams][4] first batch of stages 1, 2, 3; batches
  std::vector<std::int32_t> channel;  // [groups * 16] output channel of each row; -1: none
  std::vector<std::int32_t> place;    // [groups * 16] where that lies in memory; -1: none
  std::int64_t groups = 0;
  std::int64_t capacity = 0;
  double padding = 1;    // columns of all batches over kept columns
  double conflicts = 1;  // as bank_conflicts()
};

// `geometry` is that of the tile; `input_place` and `output_place` are where channel c lies among
// the channels in memory.
ResidentConvWeights pack_for_resident(const GatheredGroups& groups, const Conv& conv,
                                      const ResidentTile& tile, const ResidentGeometry& geometry,
                                      const std::vector<std::int32_t>& input_place,
                                      const std::vector<std::int32_t>& output_place);

}  // namespace winnow
