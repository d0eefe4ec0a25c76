#include "runtime/plan/network_cut.h"

#include <algorithm>

namespace winnow {
namespace {

constexpr std::int64_t kFewestSamples = 8;
constexpr std::size_t kMostSizes = 2;

// Elements that a step reads and writes for the whole batch, of the step with most.
std::int64_t most_elements(const Program& program) {
  std::int64_t most = 0;
  for (const Step& step : program.steps) {
    std::int64_t elements = element_count(program.values[step.output].shape);
    for (const std::size_t input : step.inputs) {
      elements += element_count(program.values[input].shape);
    }
    most = std::max(most, elements);
  }
  return most;
}

}  // namespace

bool is_narrow(const Program& program, std::size_t cut) {
  const std::size_t value = program.steps[cut - 1].output;
  std::vector<bool> is_later(program.values.size(), false);
  for (std::size_t i = cut; i < program.steps.size(); ++i) {
    for (const std::size_t input : program.steps[i].inputs) {
      if (input != value && !is_later[input]) return false;
    }
    is_later[program.steps[i].output] = true;
  }
  return is_later[program.output];
}

std::size_t best_cut(std::span<const double> part_ms, double runs, std::span<const double> whole_ms,
                     std::span<const std::size_t> cuts) {
  std::size_t best = 0;
  double gain = 0, best_gain = 0;
  for (std::size_t step = 0; step < part_ms.size(); ++step) {
    if (gain > best_gain && std::ranges::binary_search(cuts, step)) {
      best = step;
      best_gain = gain;
    }
    gain += whole_ms[step] - runs * part_ms[step];
  }
  return best;
}

std::vector<std::int64_t> sub_batches(const Program& program, std::int64_t bytes_of_element,
                                      std::int64_t cache_bytes) {
  const std::int64_t bytes = most_elements(program) * bytes_of_element;
  if (bytes <= cache_bytes) return {};
  const std::int64_t fitting = cache_bytes / std::max<std::int64_t>(bytes / program.batch, 1);
  std::int64_t size = kFewestSamples;
  while (2 * size <= fitting) size *= 2;
  std::vector<std::int64_t> sizes;
  for (; size < program.batch && sizes.size() < kMostSizes; size *= 2) {
    if (program.batch % size == 0) sizes.push_back(size);
  }
  return sizes;
}

}  // namespace winnow
