#include "runtime/challenge/gpu/grouped_network.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "runtime/base/thread_pool.h"
#include "runtime/challenge/gpu/bank_order.h"

namespace winnow::challenge {
namespace {

using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

}  // namespace

// One layer on its way.
struct GroupedNetwork::Slot {
  SparseLayer layer;
  InputGroups groups;
  std::vector<std::uint32_t> rows;  // of its outputs
  GroupedLayer grouped;
  StackLayer stacked;  // no groups: cannot be
};

GroupedNetwork::GroupedNetwork(const Network& network, const StackLimits& limits, int threads) {
  ThreadPool pool(threads);
  const auto per_batch = static_cast<std::uint32_t>(pool.threads());
  // [0] is the layer before the batch, whose outputs are put in order when the next layer is known;
  // [1] to [batch] are the batch's.
  std::vector<Slot> slots(per_batch + 1);
  std::vector<std::uint32_t> rows_before;  // of the outputs of the layer before slots[0]
  std::uint32_t groups_before = 0;
  for (std::uint32_t first = 0; first < network.layers(); first += per_batch) {
    const std::uint32_t batch = std::min(per_batch, network.layers() - first);
    const bool is_last = first + batch == network.layers();
    const auto for_each = [&](std::uint32_t begin, std::uint32_t end, auto job) {
      pool.run([&](int part) {
        for (std::uint32_t i = begin + static_cast<std::uint32_t>(part); i < end; i += per_batch) {
          job(i);
        }
      });
    };
    for_each(1, batch + 1, [&](std::uint32_t i) { slots[i].layer = network.layer(first + i - 1); });
    const auto begin = Clock::now();
    for_each(1, batch + 1, [&](std::uint32_t i) {
      const SparseLayer& layer = slots[i].layer;
      slots[i].groups = chain_groups(find_input_groups(layer), layer.inputs);
    });
    const std::uint32_t from = first == 0 ? 1 : 0, to = is_last ? batch + 1 : batch;
    // Whether slot i, after a layer of `before` groups, may be in a stack, for weights of `parts`.
    const auto may_stack = [&](std::uint32_t i, std::uint32_t before, std::uint32_t parts) {
      const std::uint32_t most = limits.most_groups[parts - 1];
      return first + i > limits.from && std::max(before, slots[i].groups.size()) <= most;
    };
    for_each(from, to, [&](std::uint32_t i) {
      if (i < batch && may_stack(i + 1, slots[i].groups.size(), 1)) {
        order_for_banks(slots[i].groups, slots[i + 1].groups);
      }
      slots[i].rows = rows_of_outputs(slots[i].groups);
    });
    for_each(from, to, [&](std::uint32_t i) {
      Slot& slot = slots[i];
      const bool is_first = i == from;
      slot.grouped =
          group_layer(slot.layer, slot.groups, is_first ? rows_before : slots[i - 1].rows);
      const std::uint32_t before = is_first ? groups_before : slots[i - 1].groups.size();
      slot.stacked = can_stack(slot.grouped) && may_stack(i, before, slot.grouped.parts)
                         ? stack_layer(slot.grouped)
                         : StackLayer{};
    });
    prepare_ms_ += ms_since(begin);
    for (std::uint32_t i = from; i < to; ++i) add(slots[i]);
    if (to > from) {
      rows_before = slots[to - 1].rows;
      groups_before = slots[to - 1].groups.size();
    }
    std::swap(slots[0], slots[batch]);
  }
  stack_.upload();
}

void GroupedNetwork::add(const Slot& slot) {
  layers_.emplace_back(slot.grouped);
  rows_ = std::max(rows_, slot.groups.size() * kGroupOutputs);
  groups_ += slot.groups.size();
  outputs_ += slot.groups.output.size();
  inputs_ += slot.groups.input.size();
  const bool fits = stack_.size() == 0 || slot.stacked.parts == stack_.parts();
  if (slot.stacked.groups == 0 || !fits) stack_.clear();
  if (slot.stacked.groups > 0) stack_.add(slot.stacked);
}

std::string GroupedNetwork::summary() const {
  char text[96];
  std::snprintf(text, sizeof(text), "groups of %.1f outputs share %.1f inputs on average",
                static_cast<double>(outputs_) / static_cast<double>(groups_),
                static_cast<double>(inputs_) / static_cast<double>(groups_));
  return text;
}

}  // namespace winnow::challenge
