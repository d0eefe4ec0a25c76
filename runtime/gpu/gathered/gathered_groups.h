// A weight as groups of 16 output channels that share their kept columns, whatever its own blocks
// and groups of channels are. Pure host code.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/model/graph.h"
#include "runtime/plan/block_csr.h"

namespace winnow {

// Blocks of 16 output channels over all input channels: column (c * R + r) * S + s with c from 0 to
// C - 1 also where the convolution has groups.
struct GatheredGroups {
  BlockCsr weight;                  // vector 16
  std::vector<std::int32_t> place;  // [groups * 16] output channel of each row; -1: none
};

// Blocks of 8 are joined in pairs, wider ones split. Single elements are joined 16 rows at a time
// as they follow each other.
GatheredGroups gathered_groups(const BlockCsr& weight, const Conv& conv);

}  // namespace winnow
