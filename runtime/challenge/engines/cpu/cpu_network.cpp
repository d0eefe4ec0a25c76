#include "runtime/challenge/engines/cpu/cpu_network.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <functional>

#include "runtime/base/error.h"

namespace winnow::challenge {
namespace {

// Calls job(i) for i in [0, count), each on some thread.
void for_each(ThreadPool& pool, std::size_t count, const std::function<void(std::size_t)>& job) {
  std::atomic<std::size_t> next = 0;
  pool.run([&](int) {
    for (std::size_t i = next++; i < count; i = next++) job(i);
  });
}

SparseLayer read_layer(const Network& network, std::uint32_t l) {
  SparseLayer layer = network.layer(l);
  const std::uint32_t neurons = std::max(layer.inputs, layer.outputs());
  if (neurons > kMostTiledNeurons) {
    fail(ErrorCode::usage, network.name(), ": layer ", l, " has ", neurons,
         " neurons, the engine 'cpu' takes at most ", kMostTiledNeurons);
  }
  return layer;
}

class NetworkBuilder {
 public:
  NetworkBuilder(const Network& network, std::uint32_t blocks, ThreadPool& pool)
      : network_(network), blocks_(blocks), pool_(pool) {
    made_.layers.resize(network.layers());
    made_.widest = network.neurons();
  }

  // As many layers at a time as there are threads: all of them in both forms would take twice the
  // memory.
  CpuNetwork build() {
    const auto step = static_cast<std::uint32_t>(pool_.threads());
    for (std::uint32_t first = 0; first < network_.layers(); first += step) {
      add_layers(first, std::min(step, network_.layers() - first));
    }
    return std::move(made_);
  }

 private:
  void add_layers(std::uint32_t first, std::uint32_t count) {
    std::vector<SparseLayer> layers(count);
    for_each(pool_, count, [&](std::size_t i) {
      layers[i] = read_layer(network_, first + static_cast<std::uint32_t>(i));
    });
    const auto start = std::chrono::steady_clock::now();
    std::vector<OutputOrder> orders(count);
    std::vector<std::vector<std::uint32_t>> place_of_input(count + std::size_t{1});
    place_of_input[0] = std::move(last_places_);
    for_each(pool_, count, [&](std::size_t i) {
      orders[i] = order_by_inputs(layers[i]);
      place_of_input[i + 1] = places(orders[i]);
    });
    for_each(pool_, count, [&](std::size_t i) {
      CpuLayer& layer = made_.layers[first + i];
      layer.tiles = make_layer_tiles(layers[i], orders[i], place_of_input[i]);
      layer.block_begin = cut_into_blocks(layer.tiles, blocks_);
    });
    last_places_ = std::move(place_of_input[count]);
    for (const SparseLayer& layer : layers) {
      made_.widest = std::max(made_.widest, layer.outputs());
    }
    made_.prepare_ms +=
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  }

  const Network& network_;
  std::uint32_t blocks_;
  ThreadPool& pool_;
  CpuNetwork made_;
  std::vector<std::uint32_t> last_places_;  // of the outputs of the last layer that was added
};

}  // namespace

CpuNetwork make_cpu_network(const Network& network, std::uint32_t blocks, ThreadPool& pool) {
  return NetworkBuilder(network, blocks, pool).build();
}

std::string describe_tiles(const CpuNetwork& network) {
  std::uint64_t outputs = 0, tiled = 0;
  for (const CpuLayer& layer : network.layers) {
    outputs += layer.tiles.outputs();
    for (const OutputTile& tile : layer.tiles.tile) {
      if (tile.height == kLargestHeight) tiled += tile.height;
    }
  }
  const double percent =
      outputs == 0 ? 0 : 100 * static_cast<double>(tiled) / static_cast<double>(outputs);
  return std::to_string(std::lround(percent)) + " % of the outputs in tiles of " +
         std::to_string(kLargestHeight) + " that share their inputs";
}

}  // namespace winnow::challenge
