// A layer in the form that the engine `cpu` computes with.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/challenge/engines/cpu/kernels/tile_kernels.h"
#include "runtime/challenge/engines/cpu/output_order.h"
#include "runtime/challenge/network.h"

namespace winnow::challenge {

// Outputs are numbered by their place in an OutputOrder, inputs by that of the layer before.
// The members are those of TileArgs.
struct LayerTiles {
  std::uint32_t inputs = 0;
  std::vector<OutputTile> tile;  // together all outputs, ascending
  std::vector<std::uint32_t> input;
  std::vector<float> value;
  std::vector<float> bias;

  std::uint32_t outputs() const { return static_cast<std::uint32_t>(bias.size()); }
};

// The most neurons that fit the numbers of LayerTiles::input.
inline constexpr std::uint32_t kMostTiledNeurons = ~std::uint32_t{0} / kSlabLanes;

// `place_of_input` says where the layer before put each of its outputs; empty: inputs keep their
// numbers. Requires at most kMostTiledNeurons inputs and outputs.
LayerTiles make_layer_tiles(const SparseLayer& layer, const OutputOrder& order,
                            const std::vector<std::uint32_t>& place_of_input);

// Cuts a layer into blocks of consecutive tiles with nearly equal numbers of outputs. Returns the
// first tile of each block, then the number of tiles. [blocks + 1]
std::vector<std::uint32_t> cut_into_blocks(const LayerTiles& layer, std::uint32_t blocks);

}  // namespace winnow::challenge
