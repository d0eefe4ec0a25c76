#include "runtime/challenge/generate/network_generator.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/base/random.h"
#include "runtime/challenge/files/file_limits.h"
#include "runtime/challenge/generate/class_structure.h"
#include "runtime/challenge/generate/random_wiring.h"

namespace winnow::challenge {
namespace {

constexpr std::uint32_t kPublishedSeed = 5489;
constexpr std::uint32_t kPublishedLayers = 1920;

// Streams of random numbers of one seed, by what they are for; the layer is added.
constexpr std::uint64_t kWiringStream = std::uint64_t{1} << 32;
constexpr std::uint64_t kWeightStream = std::uint64_t{2} << 32;

void check_published(const NetworkRecipe& recipe) {
  published_stream_position(recipe.neurons);  // throws for other sizes
  if (recipe.layers > kPublishedLayers) {
    fail(ErrorCode::usage, "found ", recipe.layers, " layers, the published networks have ",
         kPublishedLayers);
  }
  if (recipe.connections != 32 || recipe.is_shuffled || recipe.weights != Weights::constant ||
      recipe.bias) {
    fail(ErrorCode::usage, "the published networks have 32 connections an output, weights of 1/16",
         " and biases of their own: other networks need a seed");
  }
}

void check(const NetworkRecipe& recipe) {
  if (recipe.neurons == 0 || recipe.neurons > kMostNeurons || recipe.layers == 0 ||
      recipe.layers > kMostLayers) {
    fail(ErrorCode::usage, "found ", recipe.neurons, " neurons and ", recipe.layers,
         " layers, expected 1 to ", kMostNeurons, " and 1 to ", kMostLayers);
  }
  if (!recipe.seed) return check_published(recipe);
  if (recipe.connections == 0 || recipe.connections > recipe.neurons) {
    fail(ErrorCode::usage, "found ", recipe.connections, " connections an output, expected 1 to ",
         recipe.neurons, ", the neurons");
  }
  if (!recipe.is_shuffled && recipe.connections % 2 != 0) {
    fail(ErrorCode::usage, "found ", recipe.connections,
         " connections an output, expected an even number unless the wiring is shuffled");
  }
  if (std::uint64_t{recipe.neurons} * (recipe.connections + 2) > UINT32_MAX) {
    fail(ErrorCode::usage, recipe.neurons, " neurons with ", recipe.connections,
         " connections each are more than a layer can have, 2^32");
  }
  if (recipe.bias && !std::isfinite(*recipe.bias)) {
    fail(ErrorCode::usage, "the bias is not finite");
  }
}

ClassStructure structure_of(const NetworkRecipe& recipe) {
  const std::uint64_t skipped = recipe.seed ? 0 : published_stream_position(recipe.neurons);
  return {recipe.neurons, recipe.connections / 2, recipe.layers,
          UniformStream(recipe.seed.value_or(kPublishedSeed), skipped)};
}

void set_wiring(SparseLayer& layer, const ClassStructure& structure, std::uint32_t l) {
  const std::vector<std::vector<std::uint32_t>> lists = structure.input_lists(l);
  layer.input.reserve(structure.connections(l));
  for (std::uint32_t j = 0; j < layer.inputs; ++j) {
    const std::vector<std::uint32_t>& list = lists[j % structure.classes()];
    layer.input.insert(layer.input.end(), list.begin(), list.end());
    layer.row_begin.push_back(layer.connections());
  }
}

void set_random_wiring(SparseLayer& layer, const NetworkRecipe& recipe, std::uint32_t l) {
  Random random(*recipe.seed, kWiringStream + l);
  layer.input = random_wiring(recipe.neurons, recipe.connections, random);
  for (std::uint32_t j = 1; j <= recipe.neurons; ++j) {
    layer.row_begin.push_back(j * recipe.connections);
  }
}

// Uniform numbers of deviation d spread over d * sqrt(12).
void set_weights(SparseLayer& layer, const NetworkRecipe& recipe, std::uint32_t l) {
  const double connections = recipe.connections;
  layer.value.assign(layer.input.size(), static_cast<float>(2 / connections));
  if (recipe.weights == Weights::constant) return;
  Random random(*recipe.seed, kWeightStream + l);
  const bool is_positive = recipe.weights == Weights::positive;
  const double mean = (is_positive ? 2 : 1) / connections;
  const double reach = is_positive ? mean : std::sqrt(2 / connections * 3);
  for (float& value : layer.value) {
    value = static_cast<float>(random.uniform(mean - reach, mean + reach));
  }
}

class GeneratedNetwork : public Network {
 public:
  explicit GeneratedNetwork(const NetworkRecipe& recipe)
      : recipe_(recipe), bias_(recipe.bias.value_or(default_bias(recipe))) {
    if (!recipe.is_shuffled) structure_ = structure_of(recipe);
  }

  std::string name() const override;
  std::uint32_t neurons() const override { return recipe_.neurons; }
  std::uint32_t layers() const override { return recipe_.layers; }
  std::uint64_t connections() const override;
  SparseLayer layer(std::uint32_t l) const override;

 private:
  NetworkRecipe recipe_;
  float bias_;
  std::optional<ClassStructure> structure_;  // unless shuffled
};

std::string GeneratedNetwork::name() const {
  std::string text =
      std::to_string(recipe_.neurons) + " neurons, " + std::to_string(recipe_.layers) + " layers, ";
  if (!recipe_.seed) return text + "published";
  text += "seed " + std::to_string(*recipe_.seed);
  if (recipe_.is_shuffled) text += ", shuffled";
  if (recipe_.weights == Weights::positive) text += ", positive weights";
  if (recipe_.weights == Weights::random) text += ", random weights";
  return text;
}

std::uint64_t GeneratedNetwork::connections() const {
  if (!structure_) {
    return std::uint64_t{recipe_.neurons} * recipe_.connections * recipe_.layers;
  }
  std::uint64_t sum = 0;
  for (std::uint32_t l = 0; l < recipe_.layers; ++l) sum += structure_->connections(l);
  return sum;
}

SparseLayer GeneratedNetwork::layer(std::uint32_t l) const {
  if (l >= recipe_.layers) fail(ErrorCode::usage, name(), ": there is no layer ", l);
  SparseLayer layer;
  layer.inputs = recipe_.neurons;
  layer.row_begin.reserve(std::size_t{recipe_.neurons} + 1);
  layer.row_begin.push_back(0);
  if (structure_) {
    set_wiring(layer, *structure_, l);
  } else {
    set_random_wiring(layer, recipe_, l);
  }
  set_weights(layer, recipe_, l);
  layer.bias.assign(recipe_.neurons, bias_);
  return layer;
}

}  // namespace

float default_bias(const NetworkRecipe& recipe) {
  const bool is_random = recipe.weights == Weights::random;
  const bool is_positive = recipe.weights == Weights::positive;
  if (recipe.is_shuffled) return is_random ? -0.225f : is_positive ? -0.19f : -0.18f;
  if (is_random) return -0.28f;
  return static_cast<float>(-0.3 - 0.025 * std::log2(recipe.neurons / 1024.0));
}

std::unique_ptr<Network> make_network(const NetworkRecipe& recipe) {
  check(recipe);
  return std::make_unique<GeneratedNetwork>(recipe);
}

}  // namespace winnow::challenge
