// All layers of a network in groups of outputs that share inputs, on the device.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/challenge/engines/grouped/group_weights.h"
#include "runtime/challenge/engines/grouped/stack_weights.h"
#include "runtime/challenge/network.h"

namespace winnow::challenge {

// Which layers may be for the stack kernel: none before `from`, and those of which neither they nor
// the layers before them have more groups than most_groups[parts - 1].
struct StackLimits {
  std::uint32_t from = 0;
  std::uint32_t most_groups[2] = {};
};

class GroupedNetwork {
 public:
  // Reads and regroups layers on `threads` threads (0: all cores) and uploads them; the last ones,
  // as many as may be, also for the stack kernel.
  GroupedNetwork(const Network& network, const StackLimits& limits, int threads);

  std::uint32_t layers() const { return static_cast<std::uint32_t>(layers_.size()); }
  GroupView layer(std::uint32_t l) const { return layers_[l].view(); }
  // The layers [stack_begin(), layers()).
  const StackWeights& stack() const { return stack_; }
  std::uint32_t stack_begin() const { return layers() - stack_.size(); }
  std::uint32_t rows() const { return rows_; }  // of the layer that has the most
  double prepare_ms() const { return prepare_ms_; }
  std::string summary() const;  // "groups of 16.0 outputs share 32.0 inputs on average"

 private:
  struct Slot;
  static void arrange(Slot& slot, const Slot* next, const StackLimits& limits, std::uint32_t l);
  static void pack(Slot& slot, const Slot& before, const StackLimits& limits, std::uint32_t l);
  void add(const Slot& slot);

  std::vector<GroupWeights> layers_;
  StackWeights stack_;
  std::uint32_t rows_ = 0;
  std::uint64_t groups_ = 0;
  std::uint64_t outputs_ = 0;
  std::uint64_t inputs_ = 0;  // of all groups
  double prepare_ms_ = 0;
};

}  // namespace winnow::challenge
