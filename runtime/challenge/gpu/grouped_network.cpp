#include "runtime/challenge/gpu/grouped_network.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "runtime/base/thread_pool.h"

namespace winnow::challenge {
namespace {

using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

// One layer on its way.
struct Slot {
  SparseLayer layer;
  InputGroups groups;
  GroupedLayer grouped;
};

}  // namespace

GroupedNetwork::GroupedNetwork(const Network& network, int threads) {
  ThreadPool pool(threads);
  std::vector<Slot> slots(static_cast<std::size_t>(pool.threads()));
  std::vector<std::vector<std::uint32_t>> rows(slots.size() + 1);  // [0]: of the layer before
  for (std::uint32_t first = 0; first < network.layers(); first += pool.threads()) {
    const auto count = std::min<std::uint32_t>(pool.threads(), network.layers() - first);
    const auto for_each_layer = [&](auto job) {
      pool.run([&](int part) {
        if (static_cast<std::uint32_t>(part) < count) job(static_cast<std::uint32_t>(part));
      });
    };
    for_each_layer([&](std::uint32_t i) { slots[i].layer = network.layer(first + i); });
    const auto begin = Clock::now();
    for_each_layer([&](std::uint32_t i) {
      const SparseLayer& layer = slots[i].layer;
      slots[i].groups = chain_groups(find_input_groups(layer), layer.inputs);
      rows[i + 1] = rows_of_outputs(slots[i].groups);
    });
    for_each_layer([&](std::uint32_t i) {
      slots[i].grouped = group_layer(slots[i].layer, slots[i].groups, rows[i]);
    });
    prepare_ms_ += ms_since(begin);
    for (std::uint32_t i = 0; i < count; ++i) {
      layers_.emplace_back(slots[i].grouped);
      rows_ = std::max(rows_, slots[i].groups.size() * kGroupOutputs);
      groups_ += slots[i].groups.size();
      outputs_ += slots[i].groups.output.size();
      inputs_ += slots[i].groups.input.size();
    }
    rows[0] = rows[count];
  }
}

std::string GroupedNetwork::summary() const {
  char text[96];
  std::snprintf(text, sizeof(text), "groups of %.1f outputs share %.1f inputs on average",
                static_cast<double>(outputs_) / static_cast<double>(groups_),
                static_cast<double>(inputs_) / static_cast<double>(groups_));
  return text;
}

}  // namespace winnow::challenge
