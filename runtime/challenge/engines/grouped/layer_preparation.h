// All layers of a network in groups of outputs that share inputs, in host memory, a few at a time.
// Pure host code.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include "runtime/challenge/engines/grouped/layout/grouped_layer.h"
#include "runtime/challenge/engines/grouped/layout/input_groups.h"
#include "runtime/challenge/engines/grouped/multilayer_weights.h"
#include "runtime/challenge/layer_stages.h"
#include "runtime/challenge/network.h"
#include "runtime/challenge/spare_memory.h"

namespace winnow::challenge {

// Which layers multilayer_kernel may compute: none before `from`, and none that has, or whose layer
// before has, more groups than most_groups[weight_terms - 1].
struct MultilayerLimits {
  std::uint32_t from = 0;
  std::uint32_t most_groups[2] = {};
};

// One layer on its way.
struct PreparedLayer {
  SparseLayer layer;  // until it is packed
  InputGroups groups;
  std::vector<std::uint32_t> rows;  // of its outputs
  GroupedLayer grouped;
  PackedLayer packed;  // no groups: cannot be
};

// Layers are read, grouped and packed on all threads, each as soon as its neighbours allow it. The
// result is the same for any number of threads.
class LayerPreparation {
 public:
  // On `threads` threads (0: all cores). The network must outlive the object.
  LayerPreparation(const Network& network, const MultilayerLimits& limits, int threads);

  // Layers that are on their way at the same time, each in a slot of its own.
  std::uint32_t slots() const { return stages_.slots(); }

  // Calls store(layer, slot) in any thread for a layer that is ready, and then, in the calling
  // thread and in the order of layers, take(layer, slot). Rethrows what these and reading throw.
  using Use = std::function<void(const PreparedLayer& layer, std::uint32_t slot)>;
  void run(const Use& store, const Use& take);

  // What run() took without reading, store() and take(): the sum of all threads over their number.
  double ms() const { return thread_ms_ / stages_.threads; }

 private:
  void find_groups(PreparedLayer& layer, std::uint32_t l);
  void arrange(PreparedLayer& layer, const PreparedLayer* next, std::uint32_t l) const;
  void pack(PreparedLayer& layer, const std::vector<std::uint32_t>& rows_before,
            std::uint32_t groups_before, std::uint32_t l);
  void work(std::uint32_t stage, std::uint32_t l);
  PreparedLayer& at(std::uint32_t l) { return layers_[l % slots()]; }

  const Network& network_;
  MultilayerLimits limits_;
  LayerStages stages_;
  std::vector<PreparedLayer> layers_;  // [slot]
  SpareMemory<SparseLayer> spare_;
  std::atomic<double> thread_ms_ = 0;
};

}  // namespace winnow::challenge
