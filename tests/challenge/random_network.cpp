#include "tests/challenge/random_network.h"

#include <algorithm>

#include "runtime/base/random.h"

namespace winnow::challenge {
namespace {

double density_of_row(Random& random) {
  constexpr double kDensities[] = {0, 0.03, 0.1, 0.5, 1};
  return kDensities[random.below(5)];
}

void append_row(SparseLayer& layer, float highest_bias, Random& random) {
  constexpr float kWeights[] = {-1, -0.5f, 0.5f, 1};
  const double density = density_of_row(random);
  const std::uint64_t only =
      random.below(layer.inputs);  // of a row with density 0, in half of them
  const bool has_one = random.below(2) == 0;
  for (std::uint32_t i = 0; i < layer.inputs; ++i) {
    const bool is_connected = density == 0 ? has_one && i == only : random.chance(density);
    if (!is_connected) continue;
    layer.input.push_back(i);
    layer.value.push_back(kWeights[random.below(4)]);
  }
  layer.row_begin.push_back(layer.connections());
  const auto highest = static_cast<std::int64_t>(2 * highest_bias);
  layer.bias.push_back(0.5f * static_cast<float>(random.between(-4, highest)));
}

std::vector<double> next_activations(const SparseLayer& layer, const std::vector<double>& input) {
  std::vector<double> output(layer.outputs());
  for (std::uint32_t j = 0; j < layer.outputs(); ++j) {
    double sum = 0;
    for (std::uint32_t k = layer.row_begin[j]; k < layer.row_begin[j + 1]; ++k) {
      sum += double{layer.value[k]} * input[layer.input[k]];
    }
    if (sum != 0) sum += layer.bias[j];
    output[j] = std::clamp(sum, 0.0, double{kLargestActivation});
  }
  return output;
}

bool is_live(const std::vector<double>& values) {
  return std::any_of(values.begin(), values.end(), [](double value) { return value != 0; });
}

}  // namespace

MemoryNetwork random_network(const RandomNetworkOptions& options) {
  Random random(options.seed);
  std::vector<SparseLayer> layers;
  for (std::size_t l = 1; l < options.widths.size(); ++l) {
    SparseLayer layer{
        .inputs = options.widths[l - 1], .row_begin = {0}, .input = {}, .value = {}, .bias = {}};
    for (std::uint32_t j = 0; j < options.widths[l]; ++j) {
      append_row(layer, options.highest_bias, random);
    }
    layers.push_back(std::move(layer));
  }
  return MemoryNetwork("random network", std::move(layers));
}

SparseImages random_images(std::uint32_t neurons, std::uint32_t images, std::uint64_t seed) {
  constexpr double kDensities[] = {0, 0.02, 0.1, 0.4, 1};
  Random random(seed);
  SparseImages result{.neurons = neurons, .row_begin = {0}, .neuron = {}};
  for (std::uint32_t i = 0; i < images; ++i) {
    const double density = kDensities[random.below(5)];
    for (std::uint32_t n = 0; n < neurons; ++n) {
      if (random.chance(density)) result.neuron.push_back(n);
    }
    result.row_begin.push_back(result.ones());
  }
  return result;
}

ExpectedResult expected_result(const Network& network, const SparseImages& images) {
  std::vector<SparseLayer> layers;
  for (std::uint32_t l = 0; l < network.layers(); ++l) layers.push_back(network.layer(l));
  ExpectedResult result{.categories = {}, .live = std::vector<std::uint32_t>(layers.size() + 1)};
  for (std::uint32_t i = 0; i < images.images(); ++i) {
    std::vector<double> values(images.neurons);
    for (std::uint64_t k = images.row_begin[i]; k < images.row_begin[i + 1]; ++k) {
      values[images.neuron[k]] = 1;
    }
    for (std::size_t l = 0; l <= layers.size(); ++l) {
      if (!is_live(values)) break;
      ++result.live[l];
      if (l < layers.size())
        values = next_activations(layers[l], values);
      else
        result.categories.push_back(i);
    }
  }
  return result;
}

}  // namespace winnow::challenge
