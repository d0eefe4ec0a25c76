// Weights of the gathered convolution as its kernel with a ring of stages reads them. Pure host
// code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/gpu/gathered/gathered_groups.h"
#include "runtime/gpu/gathered/ring_tile.h"

namespace winnow {

// A record is a batch of 16 columns: the weights as the fragments of one matrix product (512
// bytes: 16 for each lane), then the codes of the next batch (32 bytes; after the last batch those
// of the first). A code is the row of a column's first input pixel in shared memory. Its two
// highest bits count, over the 16 codes, the stages to wait for and the stages to let go of.
inline constexpr std::int64_t kRecordBytes = 544;
inline constexpr std::uint16_t kRowBits = 0x3fff;
inline constexpr std::uint16_t kWaitBit = 0x4000;
inline constexpr std::uint16_t kReleaseBit = 0x8000;

struct RingWeights {
  std::vector<std::byte> records;          // [groups][capacity] records
  std::vector<std::int32_t> batches;       // [groups] records of each
  std::vector<std::int32_t> stage_begin;   // [thread blocks + 1] first stage of each
  std::vector<std::int32_t> stage_block;   // [stages] its block of 32 channels; -1: none
  std::vector<std::int32_t> addend_begin;  // [thread blocks] first stage of what is added
  std::vector<std::int32_t> channel;       // [groups * 16] output channel of each row; -1: none
  std::vector<std::int32_t> place;         // [groups * 16] where that lies in memory; -1: none
  std::int64_t groups = 0;
  std::int64_t capacity = 0;
  double padding = 1;    // columns of all batches over kept columns
  double conflicts = 1;  // as bank_conflicts()
};

// Thread blocks have tile.groups groups each. `input_place` and `output_place` are where channel c
// lies among the channels in memory. With `adds`, a tile's last stages are of the value that is
// added to the output: all blocks of channels that a group of the thread block writes.
RingWeights pack_for_ring(const GatheredGroups& groups, const Conv& conv, const RingTile& tile,
                          const std::vector<std::int32_t>& input_place,
                          const std::vector<std::int32_t>& output_place, bool adds);

}  // namespace winnow
