#include "runtime/plan/memory.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <variant>

#include "runtime/base/error.h"
#include "runtime/model/little_endian.h"

namespace winnow {
namespace {

std::int64_t rounded_up(std::int64_t bytes, std::int64_t alignment) {
  if (bytes < 0 || bytes > std::numeric_limits<std::int64_t>::max() - alignment) {
    fail(ErrorCode::usage, "an activation of ", bytes, " bytes cannot be placed");
  }
  return (bytes + alignment - 1) / alignment * alignment;
}

bool overlap(const Lifetime& a, const Lifetime& b) {
  return a.first_operation <= b.last_operation && b.first_operation <= a.last_operation;
}

// What one placed value takes.
struct ByteRange {
  std::int64_t begin;
  std::int64_t end;
};

// The lowest gap of `bytes` between `taken`.
std::int64_t lowest_gap(std::vector<ByteRange> taken, std::int64_t bytes) {
  std::sort(taken.begin(), taken.end(), [](ByteRange a, ByteRange b) { return a.begin < b.begin; });
  std::int64_t offset = 0;
  for (const ByteRange& range : taken) {
    if (range.begin - offset >= bytes) break;
    offset = std::max(offset, range.end);
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

std::uint64_t stored_weight_bytes(const Values& values) {
  return saturating_sum(
      {values.data.size(), saturating_product({4, static_cast<std::uint64_t>(values.count)})});
}

std::uint64_t weight_bytes(const DenseWeight& weight) {
  return stored_weight_bytes(weight.values);
}

// The dense baseline runs on the same weight with its zeros.
std::uint64_t weight_bytes(const CsrWeight& weight) {
  const auto dense = saturating_product(
      {4, static_cast<std::uint64_t>(weight.channels), static_cast<std::uint64_t>(weight.cols)});
  return saturating_sum({stored_weight_bytes(weight.values),
                         saturating_product({8, weight.column.size()}), 4 * weight.kept.size(),
                         dense});
}

std::uint64_t weight_bytes(const Weight& weight) {
  return std::visit([](const auto& form) { return weight_bytes(form); }, weight);
}

// Backends copy what a convolution reads: with its padding, and with channels up to the 16 lanes of
// the widest vectors. A convolution of single points without padding reads its input as it is.
bool is_copied(const Conv& conv) {
  return conv.kernel != Pair{1, 1} || conv.padding != Pair{0, 0};
}

std::uint64_t padded_input_bytes(const Shape& input, const Pair& padding) {
  constexpr std::uint64_t kLanes = 16;
  const std::uint64_t groups = (static_cast<std::uint64_t>(input[1]) + kLanes - 1) / kLanes;
  std::uint64_t bytes =
      saturating_product({4, static_cast<std::uint64_t>(input[0]), groups, kLanes});
  for (std::size_t i = 2; i < input.size(); ++i) {
    const std::int64_t pad = padding[i + 2 - input.size()];  // a single position axis is the second
    bytes = saturating_product({bytes, static_cast<std::uint64_t>(input[i] + 2 * pad)});
  }
  return bytes;
}

// Copies of the values that convolutions read, each padded as all its readers together want it: the
// GPU makes one copy for all of them.
std::uint64_t padded_bytes(const Program& program) {
  std::map<std::size_t, Pair> paddings;  // by value
  for (const Step& step : program.steps) {
    const auto* conv = std::get_if<Conv>(&step.op);
    if (conv == nullptr || !is_copied(*conv)) continue;
    Pair& padding = paddings.try_emplace(step.inputs[0], Pair{0, 0}).first->second;
    for (std::size_t axis = 0; axis < 2; ++axis) {
      padding[axis] = std::max(padding[axis], conv->padding[axis]);
    }
  }
  std::uint64_t bytes = 0;
  for (const auto& [value, padding] : paddings) {
    bytes = saturating_sum({bytes, padded_input_bytes(program.values[value].shape, padding)});
  }
  return bytes;
}

}  // namespace

MemoryPlan plan_memory(const std::vector<Lifetime>& lifetimes, std::int64_t alignment) {
  if (alignment < 1) fail(ErrorCode::usage, "alignment ", alignment, ", expected at least 1");
  MemoryPlan plan;
  plan.offsets.resize(lifetimes.size());
  std::vector<std::size_t> placed;
  for (const std::size_t index : by_size(lifetimes)) {
    const std::int64_t bytes = rounded_up(lifetimes[index].bytes, alignment);
    std::vector<ByteRange> taken;
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

std::uint64_t session_bytes(const DeployedModel& model, std::int64_t batch) {
  std::uint64_t bytes = 0;
  for (const auto& [name, weight] : model.weights) {
    bytes = saturating_sum({bytes, weight_bytes(weight)});
  }
  const Program program = build_program(model.graph, batch);
  for (const Value& value : program.values) {
    const auto floats = static_cast<std::uint64_t>(element_count(value.shape));
    bytes = saturating_sum({bytes, saturating_product({4, floats})});
  }
  return saturating_sum({bytes, padded_bytes(program)});
}

}  // namespace winnow
