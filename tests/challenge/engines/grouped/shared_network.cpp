#include "tests/challenge/engines/grouped/shared_network.h"

#include <algorithm>
#include <numeric>

#include "runtime/base/random.h"

namespace winnow::challenge {
namespace {

std::vector<std::uint32_t> random_inputs(std::uint32_t all, std::uint32_t count, Random& random) {
  std::vector<std::uint32_t> inputs(all);
  std::iota(inputs.begin(), inputs.end(), 0u);
  shuffle(inputs, random);
  inputs.resize(std::min(count, all));
  std::sort(inputs.begin(), inputs.end());
  return inputs;
}

}  // namespace

SparseLayer shared_layer(const SharedLayerOptions& options) {
  Random random(options.seed);
  std::vector<std::vector<std::uint32_t>> rows;
  for (std::uint32_t j = 0; j < options.outputs; ++j) {
    rows.push_back(j % options.sharing == 0
                       ? random_inputs(options.inputs, options.connections, random)
                       : rows.back());
  }
  shuffle(rows, random);
  SparseLayer layer{
      .inputs = options.inputs, .row_begin = {0}, .input = {}, .value = {}, .bias = {}};
  for (const std::vector<std::uint32_t>& row : rows) {
    for (const std::uint32_t i : row) {
      const auto units = static_cast<float>(1 + random.below(kMostWeightUnits));
      layer.input.push_back(i);
      layer.value.push_back(options.weight_unit * (random.below(3) == 0 ? -units : units));
    }
    layer.row_begin.push_back(layer.connections());
    layer.bias.push_back(options.bias);
  }
  return layer;
}

MemoryNetwork shared_network(const std::vector<std::uint32_t>& widths, SharedLayerOptions options) {
  std::vector<SparseLayer> layers;
  for (std::size_t l = 1; l < widths.size(); ++l) {
    options.inputs = widths[l - 1];
    options.outputs = widths[l];
    ++options.seed;
    layers.push_back(shared_layer(options));
  }
  return MemoryNetwork("shared inputs", std::move(layers));
}

MemoryNetwork class_network(std::uint32_t neurons, std::uint32_t layers,
                            const SharedLayerOptions& options) {
  Random random(options.seed);
  const std::uint32_t classes = neurons / 16;
  std::vector<SparseLayer> all;
  for (std::uint32_t l = 0; l < layers; ++l) {
    SparseLayer layer{.inputs = neurons, .row_begin = {0}, .input = {}, .value = {}, .bias = {}};
    for (std::uint32_t j = 0; j < neurons; ++j) {
      for (std::uint32_t i = 0; i < neurons; ++i) {
        const std::uint32_t apart = (i % classes + classes - j % classes) % classes;
        if (apart != 0 && apart != (1u << l) % classes) continue;
        const auto units = static_cast<float>(random.below(2 * kMostWeightUnits + 1));
        layer.input.push_back(i);
        layer.value.push_back(options.weight_unit * (units - kMostWeightUnits));
      }
      layer.row_begin.push_back(layer.connections());
      layer.bias.push_back(options.bias);
    }
    all.push_back(std::move(layer));
  }
  return MemoryNetwork("classes", std::move(all));
}

}  // namespace winnow::challenge
