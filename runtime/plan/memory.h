// Placement of activations in one arena, so that values whose lives do not overlap share bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/plan/program.h"

namespace winnow {

// A value lives from the step that writes it to the last step that reads it, both included.
struct Lifetime {
  std::int64_t bytes = 0;
  std::size_t first_step = 0;
  std::size_t last_step = 0;
};

struct MemoryPlan {
  std::vector<std::int64_t> offsets;  // one per lifetime, in bytes, multiples of the alignment
  std::int64_t total_bytes = 0;
};

// Greedy by size: larger values first, each at the lowest offset that is free all its life.
MemoryPlan plan_memory(const std::vector<Lifetime>& lifetimes, std::int64_t alignment = 256);

// First writing and last reading step of every value; the input is live from step 0, the output to
// the last step.
std::vector<Lifetime> value_lifetimes(const Program& program,
                                      const std::vector<std::int64_t>& bytes_per_value);

}  // namespace winnow
