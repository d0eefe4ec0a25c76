// How lanes that compute an output each read their inputs: which lane of a warp has which output,
// and in which order it reads, so that lanes that are served together meet different banks
// (access_order.h). Pure host code.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/sparse/slice_order.h"
#include "runtime/sparse/sparse_layer.h"

namespace winnow {

inline constexpr std::uint32_t kStep = 4;  // connections of an output that are fetched at once

// Which lane computes which output, what becomes SliceOrder::output. `position[i]` is the row of
// input i. Requires a well-formed layer and bank_groups in {1, 2, 4, 8}.
std::vector<std::uint32_t> outputs_of_lanes(const SparseLayer& layer,
                                            std::span<const std::uint32_t> position,
                                            std::uint32_t bank_groups);

// The rest, for the `output` of the same layer, positions and `bank_groups`; takes most of the
// time, but layers need not wait for each other. Weights are floats, 0 where a lane only keeps step
// with longer ones. Sums keep their terms but not the order of these, which depends on the
// arguments alone.
SliceOrder order_lanes(const SparseLayer& layer, std::span<const std::uint32_t> position,
                       std::vector<std::uint32_t> output, std::uint32_t bank_groups,
                       std::uint32_t unroll);

}  // namespace winnow
