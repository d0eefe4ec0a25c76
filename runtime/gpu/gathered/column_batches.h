// The order in which a warp of the gathered convolution reads the kept columns of its group. Pure
// host code.
//
// A product takes a batch of 16 columns. Their input rows are read in two halves of eight, each
// without bank conflicts if the eight rows differ mod 8. What a stage leaves over waits for columns
// of later stages, so that batches are full whatever a stage holds.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "runtime/gpu/gathered/gathered_sizes.h"

namespace winnow {

// A kept column of a group.
struct GatheredColumn {
  std::int64_t block = 0;  // of the weight, which has its 16 values
  std::uint16_t row = 0;   // of its first input pixel in shared memory
};

inline constexpr std::int64_t kNoBlock = -1;

struct ColumnBatch {
  std::array<GatheredColumn, kBatchColumns> column;  // block kNoBlock: weights of 0
  int newest = 0;                                    // the last stage that must have arrived
  int finished = 0;                                  // stages before this one are not read any more
};

// What a stage holds of a group.
struct StageColumns {
  std::vector<GatheredColumn> columns;
  // Rows that may be read with weights of 0: inputs of existing channels. Not empty in the first
  // stage; where it is empty those of the last one before are taken, which then stays in the ring.
  std::vector<std::uint16_t> fillers;
};

// The batches of all stages in order; at least one, and the last has finished all. With `ring`
// stages in shared memory no batch waits for a stage that a batch before it keeps out.
std::vector<ColumnBatch> batch_columns(const std::vector<StageColumns>& stages, int ring);

// How many reads of eight rows these batches take for every one that they would take without bank
// conflicts.
double bank_conflicts(const std::vector<ColumnBatch>& batches);

}  // namespace winnow
