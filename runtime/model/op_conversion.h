// Between ops and the key-value form of op_schema.h. For the table's own use: readers of graphs
// call build_op, which checks first.
#pragma once

#include <string_view>

#include "runtime/model/op_schema.h"

namespace winnow {

// 1 for the ops whose extents have one dimension ("conv1d"), else 2.
int rank_of(std::string_view op);

// Requires every key of `op`, with a value of its kind.
Op op_from_complete(std::string_view op, const OpSettings& settings);

}  // namespace winnow
