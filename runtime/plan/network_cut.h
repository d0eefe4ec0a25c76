// Where a network may be cut in two, so that its first steps run on a few samples at a time and the
// others on the whole batch: early activations then stay in a cache. Pure host code, the same for
// every backend.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/plan/program.h"

namespace winnow {

// Whether steps from `cut` on read nothing of what exists before them but what the step before
// writes, and the program's output is none of that. Requires 1 <= cut < the number of steps.
bool is_narrow(const Program& program, std::size_t cut);

// The cut of least time by the times of single steps: steps before it take part_ms, `runs` times,
// the others whole_ms. `cuts` rise. 0 if cutting gains nothing.
std::size_t best_cut(std::span<const double> part_ms, double runs, std::span<const double> whole_ms,
                     std::span<const std::size_t> cuts);

// How many samples at a time are worth trying: powers of two, rising, that divide the batch, from
// the largest whose every step reads and writes no more than a cache holds; but no fewer than the 8
// that lie side by side in packed layouts. Two at most; none if the whole batch fits. A value takes
// `bytes_of_element` for each element.
std::vector<std::int64_t> sub_batches(const Program& program, std::int64_t bytes_of_element,
                                      std::int64_t cache_bytes);

}  // namespace winnow
