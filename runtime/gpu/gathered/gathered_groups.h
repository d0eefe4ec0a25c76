// A weight as groups of 16 output channels that share their kept columns, whatever its own blocks
// and groups of channels are. Pure host code.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/model/graph.h"
#include "runtime/plan/block_csr.h"

namespace winnow {

// Blocks of 16 output channels over all input channels: column (c * R + r) * S + s with c from 0 to
// C - 1 also where the convolution has groups.
struct GatheredGroups {
  BlockCsr weight;                  // vector 16; its rows are the groups
  std::vector<std::int32_t> place;  // [groups * 16] output channel of each row; -1: none
};

// Blocks of 8 are joined in pairs, single elements 16 at a time, in the order of cover_order();
// wider blocks are split.
GatheredGroups gathered_groups(const BlockCsr& weight, const Conv& conv);

// The same groups with the rows of each in the order of where their channels lie in memory
// (`place`, [channels]), those without a channel last: eight neighbouring rows are written
// together.
GatheredGroups with_sorted_rows(GatheredGroups groups, const std::vector<std::int32_t>& place);

// Columns of the groups for every column that a dense weight has: 1 where all are kept.
double covered_share(const GatheredGroups& groups);

// [rows] bias of each row, 0 where its channel is -1. `bias` has one value for each channel.
std::vector<float> row_biases(const std::vector<std::int32_t>& channel,
                              std::span<const float> bias);

}  // namespace winnow
