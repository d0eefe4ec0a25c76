// A network as the engine `cpu` holds it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/base/thread_pool.h"
#include "runtime/challenge/engines/cpu/layer_tiles.h"

namespace winnow::challenge {

struct CpuLayer {
  LayerTiles tiles;
  std::vector<std::uint32_t> block_begin;  // [blocks + 1] into tiles.tile
};

struct CpuNetwork {
  std::vector<CpuLayer> layers;
  std::uint32_t widest = 0;  // the most neurons that a layer takes or gives
  double prepare_ms = 0;     // to find the order of outputs and to bring layers into it

  std::uint32_t neurons_before(std::uint32_t layer) const { return layers[layer].tiles.inputs; }
};

// Layers are read in parallel. Throws Error{usage} for more neurons than kMostTiledNeurons.
CpuNetwork make_cpu_network(const Network& network, std::uint32_t blocks, ThreadPool& pool);

// "100 % of the outputs in tiles of 8 that share their inputs".
std::string describe_tiles(const CpuNetwork& network);

}  // namespace winnow::challenge
