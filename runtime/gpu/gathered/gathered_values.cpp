#include "runtime/gpu/gathered/gathered_values.h"

#include <algorithm>
#include <deque>
#include <utility>
#include <variant>

#include "runtime/gpu/gathered/channel_places.h"
#include "runtime/gpu/gathered/gathered_sizes.h"
#include "runtime/plan/linear_stacks.h"

namespace winnow {
namespace {

bool is_sparse_conv(const DeployedModel& model, const Step& step) {
  return std::holds_alternative<Conv>(step.op) && weights_of(model, step).sparse() != nullptr;
}

// Whether `is_next(step, value)` leads from the value, over steps without weights, to a sparse
// convolution.
template <typename IsNext, typename ValuesOf>
bool leads_to_sparse(const Program& program, const DeployedModel& model, std::size_t from,
                     const IsNext& is_next, const ValuesOf& values_of) {
  std::vector<bool> is_known(program.values.size(), false);
  std::vector<std::size_t> left = {from};
  is_known[from] = true;
  while (!left.empty()) {
    const std::size_t value = left.back();
    left.pop_back();
    for (const Step& step : program.steps) {
      if (!is_next(step, value)) continue;
      if (is_sparse_conv(model, step)) return true;
      if (is_weighted(step)) continue;
      for (const std::size_t further : values_of(step)) {
        if (is_known[further]) continue;
        is_known[further] = true;
        left.push_back(further);
      }
    }
  }
  return false;
}

// Whether the step that reads what step `i` writes may compute it.
bool may_be_computed(const Program& program, const StepFusions& fusions, std::size_t i,
                     const std::vector<bool>& may_lie) {
  if (fusions.into == kNoStep) return false;
  const Step& step = program.steps[i];
  if (std::holds_alternative<Flatten>(step.op)) return may_lie[step.inputs[0]];
  const Op& reader = program.steps[fusions.into].op;
  return std::holds_alternative<Add>(reader) || as_epilogue(reader).has_value();
}

std::vector<bool> lying_values(const Program& program, const DeployedModel& model,
                               const ChannelClasses& classes) {
  std::vector<bool> of_class(classes.channels.size(), false);
  std::vector<bool> values(program.values.size(), false);
  for (const Step& step : program.steps) {
    if (std::holds_alternative<Conv>(step.op)) {
      of_class[classes.class_of[step.inputs[0]]] = of_class[classes.class_of[step.output]] = true;
    } else if (is_sparse_linear(program, model, step)) {
      values[step.inputs[0]] = values[step.output] = true;
    }
  }
  for (std::size_t v = 0; v < values.size(); ++v) {
    const bool has_positions = program.values[v].shape.size() > 2;
    if (has_positions && of_class[classes.class_of[v]]) values[v] = true;
  }
  return values;
}

ChannelOrders balanced_orders(const Program& program, const DeployedModel& model,
                              const ChannelClasses& classes) {
  std::deque<GatheredGroups> groups;  // that readers point to
  std::vector<std::vector<PlaceReader>> readers(classes.channels.size());
  std::vector<const GatheredGroups*> writers(classes.channels.size(), nullptr);
  for (const Step& step : program.steps) {
    if (!is_sparse_conv(model, step)) continue;
    const auto& conv = std::get<Conv>(step.op);
    groups.push_back(groups_of(model, step, conv));
    const std::size_t input = step.inputs[0], written = classes.class_of[step.output];
    readers[classes.class_of[input]].push_back({&groups.back(), &conv, classes.first[input]});
    if (conv.out_channels != classes.channels[written]) continue;  // one of several beside others
    const GatheredGroups*& writer = writers[written];
    const bool is_larger =
        writer == nullptr || writer->weight.blocks() < groups.back().weight.blocks();
    if (is_larger) writer = &groups.back();
  }
  const std::size_t result = classes.class_of[program.output];  // the caller takes any order
  std::vector<std::vector<std::int32_t>> places;
  for (std::size_t c = 0; c < readers.size(); ++c) {
    const std::int64_t channels = classes.channels[c];
    const bool is_read = !readers[c].empty() || c == result;
    const bool has_writer = writers[c] != nullptr && is_read;
    std::vector<std::int32_t> first =
        has_writer ? places_of_groups(channels, *writers[c]) : plain_places(channels);
    if (!readers[c].empty()) first = balanced_places(std::move(first), readers[c]);
    places.push_back(std::move(first));
  }
  return channel_orders(program, classes, places);
}

}  // namespace

GatheredValues gathered_values(const Program& program, const DeployedModel& model,
                               const std::vector<StepFusions>& fusions) {
  GatheredValues values;
  values.may_lie.assign(program.values.size(), false);
  values.may_defer.assign(program.values.size(), false);
  values.orders.of_value.assign(program.values.size(), 0);
  const bool has_sparse = std::ranges::any_of(program.steps, [&](const Step& step) {
    return is_sparse_conv(model, step) || is_sparse_linear(program, model, step);
  });
  if (!has_sparse) return values;
  const ChannelClasses classes = channel_classes(program);
  values.may_lie = lying_values(program, model, classes);
  values.orders = balanced_orders(program, model, classes);
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    if (!may_be_computed(program, fusions[i], i, values.may_lie)) continue;
    values.may_defer[program.steps[i].output] = true;
  }
  return values;
}

bool lies_beside_sparse(const Program& program, const DeployedModel& model, const Step& step) {
  const auto writes = [](const Step& other, std::size_t value) { return other.output == value; };
  const auto reads = [](const Step& other, std::size_t value) {
    return std::ranges::find(other.inputs, value) != other.inputs.end();
  };
  const auto inputs = [](const Step& other) { return other.inputs; };
  const auto output = [](const Step& other) { return std::vector{other.output}; };
  return leads_to_sparse(program, model, step.inputs[0], writes, inputs) ||
         leads_to_sparse(program, model, step.output, reads, output);
}

GatheredGroups groups_of(const DeployedModel& model, const Step& step, const Conv& conv) {
  const StepWeights weights = weights_of(model, step);
  if (weights.sparse() != nullptr) return gathered_groups(block_csr(*weights.sparse()), conv);
  return gathered_groups(block_csr(dense_floats(weights.weight), conv.out_channels, kGroupChannels),
                         conv);
}

std::optional<RingPool> as_epilogue(const Op& op) {
  const auto* pool = std::get_if<Pool>(&op);
  // 2 x 2 positions, 2 apart, and nothing else
  if (pool == nullptr || *pool != Pool{.kind = pool->kind}) return std::nullopt;
  return pool->kind == PoolKind::max ? RingPool::max : RingPool::average;
}

}  // namespace winnow
