// Memory of a session: what it takes, and the placement of activations in one arena, so that values
// whose lives do not overlap share bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/plan/program.h"

namespace winnow {

// A value lives from the operation that writes it to the last one that uses it, both included.
struct Lifetime {
  std::int64_t bytes = 0;
  std::size_t first_operation = 0;
  std::size_t last_operation = 0;
};

struct MemoryPlan {
  std::vector<std::int64_t> offsets;  // one per lifetime, in bytes, multiples of the alignment
  std::int64_t total_bytes = 0;
};

// Greedy by size: larger values first, each at the lowest offset that is free all its life.
MemoryPlan plan_memory(const std::vector<Lifetime>& lifetimes, std::int64_t alignment = 256);

// About what a session of `model` with batches of `batch` takes in memory: every weight as the file
// has it, as floats in a kernel's order and, where it is sparse, dense; every activation as floats;
// and what convolutions read once more with its padding, in multiples of 16 channels. What small
// files can make huge is in it; a session takes a small multiple of it at most. Saturates.
// Throws as build_program does.
std::uint64_t session_bytes(const DeployedModel& model, std::int64_t batch);

}  // namespace winnow
