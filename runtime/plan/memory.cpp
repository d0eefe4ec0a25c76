#include "runtime/plan/memory.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "runtime/base/error.h"

namespace winnow {
namespace {

std::int64_t rounded_up(std::int64_t bytes, std::int64_t alignment) {
  if (bytes < 0 || bytes > std::numeric_limits<std::int64_t>::max() - alignment) {
    fail(ErrorCode::usage, "an activation of ", bytes, " bytes cannot be placed");
  }
  return (bytes + alignment - 1) / alignment * alignment;
}

bool overlap(const Lifetime& a, const Lifetime& b) {
  return a.first_step <= b.last_step && b.first_step <= a.last_step;
}

// Bytes that one placed value takes.
struct Block {
  std::int64_t begin;
  std::int64_t end;
};

// The lowest gap of `bytes` between `taken`.
std::int64_t lowest_gap(std::vector<Block> taken, std::int64_t bytes) {
  std::sort(taken.begin(), taken.end(), [](Block a, Block b) { return a.begin < b.begin; });
  std::int64_t offset = 0;
  for (const Block& block : taken) {
    if (block.begin - offset >= bytes) break;
    offset = std::max(offset, block.end);
  }
  return offset;
}

// Indices by falling size; equal sizes in the order given.
std::vector<std::size_t> by_size(const std::vector<Lifetime>& lifetimes) {
  std::vector<std::size_t> order(lifetimes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return lifetimes[a].bytes > lifetimes[b].bytes;
  });
  return order;
}

}  // namespace

MemoryPlan plan_memory(const std::vector<Lifetime>& lifetimes, std::int64_t alignment) {
  if (alignment < 1) fail(ErrorCode::usage, "alignment ", alignment, ", expected at least 1");
  MemoryPlan plan;
  plan.offsets.resize(lifetimes.size());
  std::vector<std::size_t> placed;
  for (const std::size_t index : by_size(lifetimes)) {
    const std::int64_t bytes = rounded_up(lifetimes[index].bytes, alignment);
    std::vector<Block> taken;
    for (const std::size_t other : placed) {
      if (!overlap(lifetimes[index], lifetimes[other])) continue;
      const std::int64_t begin = plan.offsets[other];
      taken.push_back({begin, begin + rounded_up(lifetimes[other].bytes, alignment)});
    }
    const std::int64_t offset = lowest_gap(std::move(taken), bytes);
    if (offset > std::numeric_limits<std::int64_t>::max() - bytes) {
      fail(ErrorCode::usage, "the activations do not fit 64-bit offsets");
    }
    plan.offsets[index] = offset;
    plan.total_bytes = std::max(plan.total_bytes, offset + bytes);
    placed.push_back(index);
  }
  return plan;
}

std::vector<Lifetime> value_lifetimes(const Program& program,
                                      const std::vector<std::int64_t>& bytes_per_value) {
  if (bytes_per_value.size() != program.values.size()) {
    fail(ErrorCode::usage, bytes_per_value.size(), " sizes for ", program.values.size(), " values");
  }
  std::vector<Lifetime> lifetimes(program.values.size());
  for (std::size_t v = 0; v < lifetimes.size(); ++v) lifetimes[v].bytes = bytes_per_value[v];
  for (std::size_t step = 0; step < program.steps.size(); ++step) {
    Lifetime& written = lifetimes[program.steps[step].output];
    written.first_step = step;
    written.last_step = step;
    for (const std::size_t input : program.steps[step].inputs) lifetimes[input].last_step = step;
  }
  lifetimes[program.input].first_step = 0;
  if (!program.steps.empty()) lifetimes[program.output].last_step = program.steps.size() - 1;
  return lifetimes;
}

}  // namespace winnow
