// What can be said of a network and its training before either exists. Free of LibTorch's headers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "prune/data/data_set.h"
#include "prune/evolution/trainee/trainee.h"
#include "runtime/model/graph.h"
#include "runtime/model/model.h"

namespace winnow {

// In place of a number of output channels that share a mask bit: an output channel has one.
inline constexpr std::int64_t kWholeChannels = 0;

// In the same place: each layer has a number of its own, which is chosen when pruning starts.
inline constexpr std::int64_t kMixed = -1;

// The conv and linear layers of `graph`, in its order; `vector` output channels share a mask bit.
// With kWholeChannels those of channel_units.h. Throws Error{usage} if the graph is not valid, and
// what channel_units() throws.
std::vector<PrunableLayer> prunable_layers(const Graph& graph, std::int64_t vector);

// The number of each conv and linear layer, [layers]: `vector`, or 1 for kMixed.
std::vector<std::int64_t> vectors_of(const Graph& graph, std::int64_t vector);

// The same with a number of its own for each conv and linear layer, [layers].
std::vector<PrunableLayer> prunable_layers(const Graph& graph,
                                           std::span<const std::int64_t> vectors);

// The same of the model's graph, with the shares of the blocks that its masks drop as
// initial_sparsity. Masks have granularity `vector`; throws what masked_channels() throws.
std::vector<PrunableLayer> prunable_layers(const Model& model, std::int64_t vector);
std::vector<PrunableLayer> prunable_layers(const Model& model,
                                           std::span<const std::int64_t> vectors);

// The same layers: with `row_balance` (not of channels) under masks that keep equally many blocks
// in every row of blocks.
std::vector<PrunableLayer> with_rows(std::vector<PrunableLayer> layers, bool row_balance);

// Throws Error{usage} unless the images have the form of the network's input.
void require_input(const Graph& graph, const ImageSet& images);

// The same, and that the classes of the training images fit the network's output.
void require_fit(const Graph& graph, const DataSet& data);

}  // namespace winnow
