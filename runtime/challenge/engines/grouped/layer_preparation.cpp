#include "runtime/challenge/engines/grouped/layer_preparation.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "runtime/base/thread_pool.h"
#include "runtime/challenge/engines/grouped/layout/bank_order.h"

namespace winnow::challenge {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint32_t kGroup = 0, kArrange = 1, kPack = 2, kTake = 3, kStages = 4;

// Adds the time until its end.
class Timer {
 public:
  explicit Timer(std::atomic<double>& sum_ms) : sum_ms_(sum_ms) {}
  ~Timer() { sum_ms_ += std::chrono::duration<double, std::milli>(Clock::now() - begin_).count(); }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

 private:
  std::atomic<double>& sum_ms_;
  Clock::time_point begin_ = Clock::now();
};

}  // namespace

LayerPreparation::LayerPreparation(const Network& network, const MultilayerLimits& limits,
                                   int threads)
    : network_(network),
      limits_(limits),
      stages_{.layers = network.layers(),
              .stages = kStages,
              .threads = threads > 0 ? threads : available_cores()},
      layers_(stages_.slots()) {}

void LayerPreparation::run(const Use& store, const Use& take) {
  stages_.run([&](std::uint32_t stage, std::uint32_t l, std::uint32_t slot) {
    if (stage == kTake) return take(layers_[slot], slot);
    work(stage, l);
    if (stage == kPack) store(layers_[slot], slot);
  });
}

void LayerPreparation::work(std::uint32_t stage, std::uint32_t l) {
  if (stage == kGroup) return find_groups(at(l), l);
  const Timer timer(thread_ms_);
  if (stage == kArrange) {
    arrange(at(l), l + 1 < network_.layers() ? &at(l + 1) : nullptr, l);
  } else if (l == 0) {
    pack(at(l), {}, 0, l);
  } else {
    pack(at(l), at(l - 1).rows, at(l - 1).groups.size(), l);
  }
}

void LayerPreparation::find_groups(PreparedLayer& layer, std::uint32_t l) {
  layer.layer = spare_.take();
  network_.read(l, layer.layer);
  const Timer timer(thread_ms_);
  layer.groups = chain_groups(find_input_groups(layer.layer), layer.layer.inputs);
}

// Orders the outputs of layer l for `next`, which reads them; null: none does.
void LayerPreparation::arrange(PreparedLayer& layer, const PreparedLayer* next,
                               std::uint32_t l) const {
  const bool may_be_multilayer =
      next != nullptr && l + 1 >= limits_.from &&
      std::max(layer.groups.size(), next->groups.size()) <= limits_.most_groups[0];
  if (may_be_multilayer) order_for_banks(layer.groups, next->groups);
  layer.rows = rows_of_outputs(layer.groups);
}

void LayerPreparation::pack(PreparedLayer& layer, const std::vector<std::uint32_t>& rows_before,
                            std::uint32_t groups_before, std::uint32_t l) {
  layer.grouped = group_layer(layer.layer, layer.groups, rows_before, std::move(layer.grouped));
  spare_.give(std::move(layer.layer));
  const bool may_be_multilayer = l >= limits_.from && can_pack(layer.grouped) &&
                                 std::max(groups_before, layer.groups.size()) <=
                                     limits_.most_groups[layer.grouped.weight_terms - 1];
  layer.packed = may_be_multilayer ? pack_layer(layer.grouped) : PackedLayer{};
}

}  // namespace winnow::challenge
