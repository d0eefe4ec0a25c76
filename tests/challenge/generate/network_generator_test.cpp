#include "runtime/challenge/generate/network_generator.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <span>
#include <string>
#include <thread>

#include "runtime/base/checksum.h"
#include "runtime/base/random.h"
#include "tests/throws.h"

namespace winnow::challenge {
namespace {

// CRC-32C of the connections as lines "input<TAB>output" from 1, sorted by input, then output.
std::uint32_t checksum_of(const SparseLayer& layer) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  for (std::uint32_t j = 0; j < layer.outputs(); ++j) {
    for (std::uint32_t k = layer.row_begin[j]; k < layer.row_begin[j + 1]; ++k) {
      pairs.emplace_back(layer.input[k] + 1, j + 1);
    }
  }
  std::sort(pairs.begin(), pairs.end());
  std::string text;
  for (const auto& [input, output] : pairs) {
    text += std::to_string(input) + "\t" + std::to_string(output) + "\n";
  }
  return crc32c(std::as_bytes(std::span(text)));
}

std::vector<std::uint32_t> row_of(const SparseLayer& layer, std::uint32_t j) {
  return {layer.input.begin() + layer.row_begin[j], layer.input.begin() + layer.row_begin[j + 1]};
}

bool all_weights_are(const SparseLayer& layer, float weight) {
  return std::all_of(layer.value.begin(), layer.value.end(),
                     [&](float value) { return value == weight; });
}

// The rule at the head of network.h, for one image.
std::vector<float> run_layer(const SparseLayer& layer, const std::vector<float>& x) {
  std::vector<float> y(layer.outputs());
  for (std::uint32_t j = 0; j < layer.outputs(); ++j) {
    float sum = 0;
    for (std::uint32_t k = layer.row_begin[j]; k < layer.row_begin[j + 1]; ++k) {
      sum += layer.value[k] * x[layer.input[k]];
    }
    y[j] = sum == 0 ? 0 : std::clamp(sum + layer.bias[j], 0.0f, kLargestActivation);
  }
  return y;
}

struct Activity {
  double zeros;  // of all values
  double largest;
};

// Of random images of which each pixel is 1 with chance 0.4, after the last layer.
Activity activity_of(const NetworkRecipe& recipe) {
  constexpr int kImages = 8;
  const auto network = make_network(recipe);
  Random random(1);
  Activity activity{};
  for (int image = 0; image < kImages; ++image) {
    std::vector<float> x(recipe.neurons);
    for (float& pixel : x) pixel = random.chance(0.4) ? 1.0f : 0.0f;
    for (std::uint32_t l = 0; l < recipe.layers; ++l) x = run_layer(network->layer(l), x);
    const double share = 1.0 / (kImages * recipe.neurons);
    activity.zeros += share * static_cast<double>(std::count(x.begin(), x.end(), 0.0f));
    activity.largest +=
        share * static_cast<double>(std::count(x.begin(), x.end(), kLargestActivation));
  }
  return activity;
}

std::string refusal_of(const NetworkRecipe& recipe) {
  CHECK(error_of([&] { make_network(recipe); }) == ErrorCode::usage);
  return message_of([&] { make_network(recipe); });
}

}  // namespace

TEST_CASE("the published layers of 1024 neurons are met") {
  // Checksums of files whose SHA-256 equal those of the published layers (the copies in
  // github.com/dian-lun-lin/SNIG, commit 4944672). A block has six layers.
  const auto network = make_network({.neurons = 1024, .layers = 120});
  CHECK(network->connections() == 120 * 32 * 1024);
  struct Published {
    std::uint32_t layer, checksum;
  };
  for (const Published& published : {Published{1, 0x1e7a0af8},
                                     {2, 0x337fdff0},
                                     {6, 0x92b88305},
                                     {7, 0x150aebc1},
                                     {12, 0x03b6bea1},
                                     {13, 0xb5717202},
                                     {120, 0x4b72bf43}}) {
    CAPTURE(published.layer);
    CHECK(checksum_of(network->layer(published.layer - 1)) == published.checksum);
  }
}

TEST_CASE("layers of the other published sizes stay as they were when all survivors were met") {
  // With the published inputs 1801, 1918 and 1994 images outlive 120 of these layers, as published.
  struct Expected {
    std::uint32_t neurons, layer, checksum;
  };
  for (const Expected& expected : {Expected{4096, 9, 0x40130ce7},
                                   {4096, 120, 0xe4eeb0ec},
                                   {16384, 11, 0x2f82e62e},
                                   {16384, 120, 0xaab0f42e},
                                   {65536, 13, 0x91f98b9b}}) {
    CAPTURE(expected.neurons);
    CAPTURE(expected.layer);
    const auto network = make_network({.neurons = expected.neurons, .layers = expected.layer});
    CHECK(checksum_of(network->layer(expected.layer - 1)) == expected.checksum);
  }
}

TEST_CASE("published weights and biases are those of Kepner et al.") {
  for (const auto& [neurons, bias] :
       {std::pair{1024u, -0.3f}, {4096u, -0.35f}, {16384u, -0.4f}, {65536u, -0.45f}}) {
    const SparseLayer layer = make_network({.neurons = neurons, .layers = 1})->layer(0);
    CHECK(layer.bias == std::vector<float>(neurons, bias));
    CHECK(all_weights_are(layer, 0.0625f));
    CHECK_NOTHROW(check_layer(layer, "layer"));
  }
}

TEST_CASE("a generated network is the same for every thread and every time") {
  const NetworkRecipe recipe{
      .neurons = 96, .layers = 20, .seed = 5, .is_shuffled = true, .weights = Weights::random};
  const auto network = make_network(recipe);
  std::vector<SparseLayer> layers(recipe.layers);
  std::vector<std::thread> threads;
  for (std::uint32_t l = 0; l < recipe.layers; ++l) {
    threads.emplace_back([&, l] { layers[l] = network->layer(l); });
  }
  for (std::thread& thread : threads) thread.join();
  const auto again = make_network(recipe);
  for (std::uint32_t l = recipe.layers; l-- > 0;) CHECK(again->layer(l) == layers[l]);
  CHECK(layers[0].input != layers[1].input);
  CHECK(layers[0].value != layers[1].value);
}

TEST_CASE("other seeds give other networks of every kind") {
  for (const bool is_shuffled : {false, true}) {
    for (const Weights weights : {Weights::constant, Weights::positive, Weights::random}) {
      NetworkRecipe recipe{
          .neurons = 64, .layers = 20, .seed = 1, .is_shuffled = is_shuffled, .weights = weights};
      const SparseLayer one = make_network(recipe)->layer(19);
      recipe.seed = 2;
      const SparseLayer two = make_network(recipe)->layer(19);
      CHECK(one.input != two.input);
      CHECK((one.value != two.value) == (weights != Weights::constant));
    }
  }
}

TEST_CASE("outputs of class structure have their connections where neurons fit and few more else") {
  struct Sizes {
    std::uint32_t neurons, connections, most;
  };
  for (const Sizes& size : {Sizes{256, 32, 32}, {1000, 32, 34}, {31, 8, 10}, {48, 2, 2}}) {
    CAPTURE(size.neurons);
    const auto network = make_network(
        {.neurons = size.neurons, .layers = 9, .seed = 1, .connections = size.connections});
    std::uint64_t sum = 0;
    for (std::uint32_t l = 0; l < 9; ++l) {
      const SparseLayer layer = network->layer(l);
      CHECK_NOTHROW(check_layer(layer, "layer"));
      CHECK(layer.outputs() == size.neurons);
      sum += layer.connections();
      for (std::uint32_t j = 0; j < size.neurons; ++j) {
        const std::uint32_t length = layer.row_begin[j + 1] - layer.row_begin[j];
        REQUIRE(length >= size.connections);
        REQUIRE(length <= size.most);
      }
      CHECK(all_weights_are(layer, 2.0f / static_cast<float>(size.connections)));
    }
    CHECK(network->connections() == sum);
  }
}

TEST_CASE("no two outputs of a shuffled network share their inputs") {
  const auto network =
      make_network({.neurons = 200, .layers = 2, .seed = 1, .connections = 9, .is_shuffled = true});
  const SparseLayer layer = network->layer(1);
  CHECK_NOTHROW(check_layer(layer, "layer"));
  CHECK(network->connections() == 2 * 200 * 9);
  std::set<std::vector<std::uint32_t>> rows;
  for (std::uint32_t j = 0; j < 200; ++j) rows.insert(row_of(layer, j));
  CHECK(rows.size() == 200);
}

namespace {

struct Moments {
  double mean, deviation, least, most;
};

Moments moments_of(Weights weights) {
  const SparseLayer layer =
      make_network({.neurons = 2048, .layers = 1, .seed = 1, .weights = weights})->layer(0);
  double sum = 0, squares = 0;
  for (const float value : layer.value) {
    sum += value;
    squares += double{value} * value;
  }
  const double mean = sum / layer.connections();
  const auto [least, most] = std::ranges::minmax(layer.value);
  return {mean, std::sqrt(squares / layer.connections() - mean * mean), least, most};
}

}  // namespace

TEST_CASE("random weights have the mean and the deviation that is documented") {
  const Moments random = moments_of(Weights::random);
  CHECK(std::abs(random.mean - 1.0 / 32) < 0.003);  // three deviations of a mean of 65,536
  CHECK(std::abs(random.deviation - 0.25) < 0.003);
  const Moments positive = moments_of(Weights::positive);
  CHECK(std::abs(positive.mean - 1.0 / 16) < 0.0005);
  CHECK(positive.least >= 0);
  CHECK(positive.most <= 0.125);
  CHECK(positive.most > 0.124);
}

TEST_CASE("activity settles between 0 and 32 with random weights and at 32 with constant ones") {
  for (const bool is_shuffled : {false, true}) {
    NetworkRecipe recipe{.neurons = 256, .layers = 40, .seed = 1, .is_shuffled = is_shuffled};
    CHECK(activity_of(recipe).largest == 1);
    recipe.weights = Weights::random;
    const Activity activity = activity_of(recipe);
    CHECK(std::abs(activity.zeros - 0.3) < 0.1);
    CHECK(std::abs(activity.largest - 0.25) < 0.1);
  }
}

TEST_CASE("recipes that cannot be followed are refused") {
  CHECK(refusal_of({.neurons = 2048}) ==
        "found 2048 neurons, published are 1024, 4096, 16384 and 65536");
  CHECK(refusal_of({.layers = 1921}) == "found 1921 layers, the published networks have 1920");
  CHECK(refusal_of({.is_shuffled = true}).find("other networks need a seed") != std::string::npos);
  CHECK(refusal_of({.neurons = 8, .seed = 1}) ==
        "found 32 connections an output, expected 1 to 8, the neurons");
  CHECK(refusal_of({.seed = 1, .connections = 7}).find("expected an even number") !=
        std::string::npos);
  CHECK(refusal_of({.layers = 0, .seed = 1}).find("found 1024 neurons and 0 layers") == 0);
  CHECK(refusal_of({.neurons = 1u << 24, .seed = 1, .connections = 256}).find("2^32") !=
        std::string::npos);
  CHECK(refusal_of({.seed = 1, .bias = NAN}) == "the bias is not finite");
  CHECK(error_of([] { make_network({.layers = 3})->layer(3); }) == ErrorCode::usage);
}

}  // namespace winnow::challenge
