// Which output channels of a convolution share a group. Pure host code.
//
// A group of 16 keeps every column in which any of its channels has a weight. Where the mask does
// not tell the 16 (single elements, blocks of 8), channels that keep similar columns belong
// together: then fewer columns cover them.
#pragma once

#include <cstdint>
#include <vector>

namespace winnow {

// Columns that one unit keeps, increasing. A unit is one channel or a block of them.
using KeptColumns = std::vector<std::uint32_t>;

// Columns that groups of `per_group` consecutive units of `order` keep together.
std::int64_t covered_columns(const std::vector<KeptColumns>& units,
                             const std::vector<std::int32_t>& order, int per_group);

// All units in an order in which groups of `per_group` have few columns: each group begins with the
// unit of most columns that is left, then takes units that add the fewest. As they are where that
// saves less than 3 %, since outputs are written best in their own order. Depends on the arguments
// alone.
std::vector<std::int32_t> cover_order(const std::vector<KeptColumns>& units, int per_group);

}  // namespace winnow
