#include "runtime/challenge/engines/cpu/layer_tiles.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

namespace winnow::challenge {
namespace {

// A list of inputs in the order of their places, so that memory is read forward.
struct SortedInputs {
  std::vector<std::uint32_t> place;
  std::vector<std::uint32_t> connection;  // counted from the row's first
};

class TileBuilder {
 public:
  TileBuilder(const SparseLayer& layer, const OutputOrder& order,
              const std::vector<std::uint32_t>& place_of_input)
      : layer_(layer), order_(order), place_of_input_(place_of_input) {
    tiles_.inputs = layer.inputs;
    tiles_.value.reserve(layer.connections());
    for (const std::uint32_t output : order.output) tiles_.bias.push_back(layer.bias[output]);
  }

  // The places [begin, end) of outputs that read the same inputs.
  void add_group(std::uint32_t begin, std::uint32_t end) {
    const SortedInputs inputs = sorted_inputs(order_.output[begin]);
    const auto input_begin = static_cast<std::uint32_t>(tiles_.input.size());
    for (const std::uint32_t place : inputs.place) tiles_.input.push_back(place * kSlabLanes);
    while (begin < end) {
      const std::uint32_t height =
          std::bit_floor(std::min<std::uint32_t>(end - begin, kLargestHeight));
      tiles_.tile.push_back({.input_begin = input_begin,
                             .value_begin = static_cast<std::uint32_t>(tiles_.value.size()),
                             .inputs = static_cast<std::uint32_t>(inputs.place.size()),
                             .output = begin,
                             .height = height});
      add_values(inputs, begin, height);
      begin += height;
    }
  }

  LayerTiles finish() {
    tiles_.input.resize(tiles_.input.size() + kPrefetchDistance);
    return std::move(tiles_);
  }

 private:
  SortedInputs sorted_inputs(std::uint32_t output) const {
    const std::uint32_t begin = layer_.row_begin[output];
    const auto place = [&](std::uint32_t k) {
      const std::uint32_t input = layer_.input[begin + k];
      return place_of_input_.empty() ? input : place_of_input_[input];
    };
    SortedInputs inputs;
    inputs.connection.resize(layer_.row_begin[output + 1] - begin);
    std::iota(inputs.connection.begin(), inputs.connection.end(), 0u);
    std::ranges::sort(inputs.connection, {}, place);
    for (const std::uint32_t k : inputs.connection) inputs.place.push_back(place(k));
    return inputs;
  }

  void add_values(const SortedInputs& inputs, std::uint32_t first, std::uint32_t height) {
    for (const std::uint32_t k : inputs.connection) {
      for (std::uint32_t place = first; place < first + height; ++place) {
        tiles_.value.push_back(layer_.value[layer_.row_begin[order_.output[place]] + k]);
      }
    }
  }

  const SparseLayer& layer_;
  const OutputOrder& order_;
  const std::vector<std::uint32_t>& place_of_input_;
  LayerTiles tiles_;
};

}  // namespace

LayerTiles make_layer_tiles(const SparseLayer& layer, const OutputOrder& order,
                            const std::vector<std::uint32_t>& place_of_input) {
  TileBuilder builder(layer, order, place_of_input);
  for (std::size_t g = 0; g + 1 < order.group_begin.size(); ++g) {
    builder.add_group(order.group_begin[g], order.group_begin[g + 1]);
  }
  return builder.finish();
}

std::vector<std::uint32_t> cut_into_blocks(const LayerTiles& layer, std::uint32_t blocks) {
  std::vector<std::uint32_t> begin;
  const std::uint64_t outputs = layer.outputs();
  std::uint32_t tile = 0;
  for (std::uint64_t block = 0; block < blocks; ++block) {
    while (tile < layer.tile.size() && layer.tile[tile].output < outputs * block / blocks) ++tile;
    begin.push_back(tile);
  }
  begin.push_back(static_cast<std::uint32_t>(layer.tile.size()));
  return begin;
}

}  // namespace winnow::challenge
