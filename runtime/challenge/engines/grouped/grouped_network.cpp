#include "runtime/challenge/engines/grouped/grouped_network.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "runtime/base/thread_pool.h"
#include "runtime/challenge/engines/grouped/layout/bank_order.h"

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
  PackedLayer packed;  // no groups: cannot be
};

// Orders the outputs of layer l for `next`, which reads them; null: none does.
void GroupedNetwork::arrange(Slot& slot, const Slot* next, const MultilayerLimits& limits,
                             std::uint32_t l) {
  const bool may_be_multilayer =
      next != nullptr && l + 1 >= limits.from &&
      std::max(slot.groups.size(), next->groups.size()) <= limits.most_groups[0];
  if (may_be_multilayer) order_for_banks(slot.groups, next->groups);
  slot.rows = rows_of_outputs(slot.groups);
}

void GroupedNetwork::pack(Slot& slot, const Slot& before, const MultilayerLimits& limits,
                          std::uint32_t l) {
  slot.grouped = group_layer(slot.layer, slot.groups, before.rows);
  const bool may_be_multilayer = l >= limits.from && can_pack(slot.grouped) &&
                                 std::max(before.groups.size(), slot.groups.size()) <=
                                     limits.most_groups[slot.grouped.weight_terms - 1];
  slot.packed = may_be_multilayer ? pack_layer(slot.grouped) : PackedLayer{};
}

GroupedNetwork::GroupedNetwork(const Network& network, const MultilayerLimits& limits,
                               int threads) {
  ThreadPool pool(threads);
  const auto per_batch = static_cast<std::uint32_t>(pool.threads());
  // [0] is the layer before the batch, which is arranged when the next layer is known; [1] to
  // [batch] are the batch's.
  std::vector<Slot> slots(per_batch + 1);
  Slot before;  // the layer before slots[0]
  for (std::uint32_t first = 0; first < network.layers(); first += per_batch) {
    const std::uint32_t batch = std::min(per_batch, network.layers() - first);
    const bool is_last = first + batch == network.layers();
    // Calls job(i, number of the layer) for slots.
    const auto for_each = [&](std::uint32_t begin, std::uint32_t end, auto job) {
      pool.run([&](int thread) {
        for (std::uint32_t i = begin + static_cast<std::uint32_t>(thread); i < end;
             i += per_batch) {
          job(i, first + i - 1);
        }
      });
    };
    for_each(1, batch + 1,
             [&](std::uint32_t i, std::uint32_t l) { slots[i].layer = network.layer(l); });
    const auto begin = Clock::now();
    for_each(1, batch + 1, [&](std::uint32_t i, std::uint32_t) {
      const SparseLayer& layer = slots[i].layer;
      slots[i].groups = chain_groups(find_input_groups(layer), layer.inputs);
    });
    const std::uint32_t from = first == 0 ? 1 : 0, to = is_last ? batch + 1 : batch;
    for_each(from, to, [&](std::uint32_t i, std::uint32_t l) {
      arrange(slots[i], i < batch ? &slots[i + 1] : nullptr, limits, l);
    });
    for_each(from, to, [&](std::uint32_t i, std::uint32_t l) {
      pack(slots[i], i == from ? before : slots[i - 1], limits, l);
    });
    prepare_ms_ += ms_since(begin);
    for (std::uint32_t i = from; i < to; ++i) add(slots[i]);
    if (to > from) std::swap(before, slots[to - 1]);
    std::swap(slots[0], slots[batch]);
  }
  multilayer_.upload();
}

void GroupedNetwork::add(const Slot& slot) {
  layers_.emplace_back(slot.grouped);
  rows_ = std::max(rows_, slot.groups.size() * kGroupOutputs);
  groups_ += slot.groups.size();
  outputs_ += slot.groups.output.size();
  inputs_ += slot.groups.input.size();
  const bool fits =
      multilayer_.size() == 0 || slot.packed.weight_terms == multilayer_.weight_terms();
  if (slot.packed.groups == 0 || !fits) multilayer_.clear();
  if (slot.packed.groups > 0) multilayer_.add(slot.packed);
}

std::string GroupedNetwork::summary() const {
  char text[96];
  std::snprintf(text, sizeof(text), "groups of %.1f outputs share %.1f inputs on average",
                static_cast<double>(outputs_) / static_cast<double>(groups_),
                static_cast<double>(inputs_) / static_cast<double>(groups_));
  return text;
}

}  // namespace winnow::challenge
