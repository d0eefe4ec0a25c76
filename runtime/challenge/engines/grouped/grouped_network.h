// All layers of a network in groups of outputs that share inputs, on the device.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "runtime/challenge/engines/gpu/layer_uploads.h"
#include "runtime/challenge/engines/grouped/group_weights.h"
#include "runtime/challenge/engines/grouped/layer_preparation.h"
#include "runtime/challenge/engines/grouped/multilayer_weights.h"
#include "runtime/challenge/network.h"

namespace winnow::challenge {

class GroupedNetwork {
 public:
  // Reads and regroups layers on `threads` threads (0: all cores) and uploads them meanwhile; the
  // last ones, as many as may be, also for multilayer_kernel. Calls `loading`, if there is one,
  // with (layers done, layers in all).
  GroupedNetwork(const Network& network, const MultilayerLimits& limits, int threads,
                 const std::function<void(std::uint32_t, std::uint32_t)>& loading = nullptr);

  std::uint32_t layers() const { return static_cast<std::uint32_t>(layers_.size()); }
  GroupView layer(std::uint32_t l) const { return layers_[l]; }
  // The layers [multilayer_begin(), layers()).
  const MultilayerWeights& multilayer() const { return multilayer_; }
  std::uint32_t multilayer_begin() const { return layers() - multilayer_.size(); }
  std::uint32_t rows() const { return rows_; }  // of the layer that has the most
  double prepare_ms() const { return prepare_ms_; }
  std::string summary() const;  // "groups of 16.0 outputs share 32.0 inputs on average"

 private:
  void add(const PreparedLayer& layer);

  std::vector<GroupView> layers_;
  DeviceChunks weights_;  // what layers_ refers to
  MultilayerWeights multilayer_;
  std::uint32_t rows_ = 0;
  std::uint64_t groups_ = 0;
  std::uint64_t outputs_ = 0;
  std::uint64_t inputs_ = 0;  // of all groups
  double prepare_ms_ = 0;
};

}  // namespace winnow::challenge
