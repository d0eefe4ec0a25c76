// All layers of a network in groups of outputs that share inputs, on the device.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/challenge/engines/grouped/group_weights.h"
#include "runtime/challenge/engines/grouped/multilayer_weights.h"
#include "runtime/challenge/network.h"

namespace winnow::challenge {

// Which layers multilayer_kernel may compute: none before `from`, and none that has, or whose layer
// before has, more groups than most_groups[weight_terms - 1].
struct MultilayerLimits {
  std::uint32_t from = 0;
  std::uint32_t most_groups[2] = {};
};

class GroupedNetwork {
 public:
  // Reads and regroups layers on `threads` threads (0: all cores) and uploads them; the last ones,
  // as many as may be, also for multilayer_kernel.
  GroupedNetwork(const Network& network, const MultilayerLimits& limits, int threads);

  std::uint32_t layers() const { return static_cast<std::uint32_t>(layers_.size()); }
  GroupView layer(std::uint32_t l) const { return layers_[l].view(); }
  // The layers [multilayer_begin(), layers()).
  const MultilayerWeights& multilayer() const { return multilayer_; }
  std::uint32_t multilayer_begin() const { return layers() - multilayer_.size(); }
  std::uint32_t rows() const { return rows_; }  // of the layer that has the most
  double prepare_ms() const { return prepare_ms_; }
  std::string summary() const;  // "groups of 16.0 outputs share 32.0 inputs on average"

 private:
  struct Slot;
  static void arrange(Slot& slot, const Slot* next, const MultilayerLimits& limits,
                      std::uint32_t l);
  static void pack(Slot& slot, const Slot& before, const MultilayerLimits& limits, std::uint32_t l);
  void add(const Slot& slot);

  std::vector<GroupWeights> layers_;
  MultilayerWeights multilayer_;
  std::uint32_t rows_ = 0;
  std::uint64_t groups_ = 0;
  std::uint64_t outputs_ = 0;
  std::uint64_t inputs_ = 0;  // of all groups
  double prepare_ms_ = 0;
};

}  // namespace winnow::challenge
