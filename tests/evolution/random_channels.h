// Networks of whole channels and their times, for tests.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "prune/evolution/evolution_config.h"
#include "prune/evolution/trainee/trainee.h"
#include "runtime/base/random.h"

namespace winnow {

// A chain of layers whose first input and last output are fixed: unit i is computed by layer i and
// read by layer i + 1, and each of its weights per pair of channels is one.
inline std::vector<PrunableLayer> chain_of(const std::vector<std::int64_t>& channels) {
  std::vector<PrunableLayer> units;
  const auto name = [](std::size_t i) { return "layer" + std::to_string(i); };
  const auto part = [&](std::size_t layer, std::int64_t outputs, std::int64_t inputs) {
    return ChannelPart{.layer = name(layer),
                       .outputs = outputs,
                       .inputs = inputs,
                       .all_outputs = channels[layer + 1],
                       .all_inputs = channels[layer],
                       .weights = channels[layer] * channels[layer + 1]};
  };
  for (std::size_t i = 0; i + 2 < channels.size(); ++i) {
    const std::int64_t blocks = channels[i + 1], inputs = channels[i];
    PrunableLayer unit{.name = name(i),
                       .blocks = blocks,
                       .weights_per_block = inputs,
                       .weights = blocks * inputs,
                       .shape = {blocks, inputs}};
    const std::size_t before = i > 0 ? i - 1 : ChannelCost::kNone;
    const double alone = i > 0 ? 1.0 : static_cast<double>(inputs);
    unit.costs = {{.other = before, .weights = alone, .macs = alone}};
    if (i + 3 == channels.size()) {  // the last layer's weights, by its inputs
      const auto outputs = static_cast<double>(channels.back());
      unit.costs.push_back({.weights = outputs, .macs = outputs});
    }
    unit.parts = {part(i, 1, 0), part(i + 1, 0, 1)};
    units.push_back(std::move(unit));
  }
  return units;
}

// Times of the layers of chain_of() that never fall, some of them flat.
inline TimeModel random_channel_time(const std::vector<std::int64_t>& channels, Random& random) {
  TimeModel time;
  time.device = "cpu";
  time.precision = "f32";
  time.vector = 0;
  time.scale = random.uniform(0.5, 1.5);
  const auto axis = [&](std::int64_t all, bool is_fixed) {
    std::vector<std::int64_t> sizes = {all};
    while (!is_fixed && sizes.front() > 1 && random.chance(0.8)) {
      sizes.insert(sizes.begin(), random.between(1, sizes.front() - 1));
    }
    return sizes;
  };
  for (std::size_t i = 0; i + 1 < channels.size(); ++i) {
    LayerChannelTimes layer;
    layer.name = "layer" + std::to_string(i);
    layer.weights = channels[i] * channels[i + 1];
    layer.outputs = axis(channels[i + 1], i + 2 == channels.size());
    layer.inputs = axis(channels[i], i == 0);
    const std::size_t width = layer.inputs.size();
    for (std::size_t at = 0; at < layer.outputs.size() * width; ++at) {
      double least = 0.1;
      if (at >= width) least = std::max(least, layer.ms[at - width]);
      if (at % width > 0) least = std::max(least, layer.ms[at - 1]);
      layer.ms.push_back(least + (random.chance(0.3) ? 0.0 : random.uniform(0.0, 0.5)));
    }
    time.dense_ms += time.scale * layer.ms.back();
    time.channels.push_back(std::move(layer));
  }
  time.constant_ms = random.uniform(0.0, 0.3) * time.dense_ms;
  time.dense_ms += time.constant_ms;
  return time;
}

}  // namespace winnow
