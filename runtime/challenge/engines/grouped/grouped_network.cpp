#include "runtime/challenge/engines/grouped/grouped_network.h"

#include <algorithm>
#include <cstdio>

namespace winnow::challenge {

GroupedNetwork::GroupedNetwork(const Network& network, const MultilayerLimits& limits, int threads,
                               const std::function<void(std::uint32_t, std::uint32_t)>& loading) {
  LayerPreparation preparation(network, limits, threads);
  LayerUploads uploads(preparation.slots());
  preparation.run(
      [&](const PreparedLayer& layer, std::uint32_t slot) {
        const GroupPiece piece(layer.grouped);
        piece.write(layer.grouped, uploads.memory(slot, piece.bytes()));
      },
      [&](const PreparedLayer& layer, std::uint32_t slot) {
        const GroupPiece piece(layer.grouped);
        std::byte* to = weights_.take(piece.bytes(), network.layers() - layers());
        uploads.copy(slot, piece.bytes(), to);
        layers_.push_back(piece.view(to));
        add(layer);
        if (loading) loading(layers(), network.layers());
      });
  prepare_ms_ = preparation.ms();
  multilayer_.upload();
}

void GroupedNetwork::add(const PreparedLayer& layer) {
  rows_ = std::max(rows_, layer.groups.size() * kGroupOutputs);
  groups_ += layer.groups.size();
  outputs_ += layer.groups.output.size();
  inputs_ += layer.groups.input.size();
  const bool fits =
      multilayer_.size() == 0 || layer.packed.weight_terms == multilayer_.weight_terms();
  if (layer.packed.groups == 0 || !fits) multilayer_.clear();
  if (layer.packed.groups > 0) multilayer_.add(layer.packed);
}

std::string GroupedNetwork::summary() const {
  char text[96];
  std::snprintf(text, sizeof(text), "groups of %.1f outputs share %.1f inputs on average",
                static_cast<double>(outputs_) / static_cast<double>(groups_),
                static_cast<double>(inputs_) / static_cast<double>(groups_));
  return text;
}

}  // namespace winnow::challenge
