#include "runtime/sparse/lane_order.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <set>

#include "tests/challenge/random_network.h"
#include "tests/sparse/rows.h"

namespace winnow {
namespace {

SliceOrder ordered(const SparseLayer& layer, std::span<const std::uint32_t> position,
                   std::uint32_t bank_groups, std::uint32_t unroll) {
  return order_lanes(layer, position, outputs_of_lanes(layer, position, bank_groups), bank_groups,
                     unroll);
}

// Every output with 32 of `neurons` inputs, spread evenly.
SparseLayer regular_layer(std::uint32_t neurons, std::uint32_t stride) {
  SparseLayer layer{.inputs = neurons, .row_begin = {0}, .input = {}, .value = {}, .bias = {}};
  for (std::uint32_t j = 0; j < neurons; ++j) {
    std::set<std::uint32_t> inputs;
    for (std::uint32_t k = 0; inputs.size() < 32; ++k) {
      inputs.insert((j * 37 + k * k * stride + k) % neurons);
    }
    layer.input.insert(layer.input.end(), inputs.begin(), inputs.end());
    layer.row_begin.push_back(static_cast<std::uint32_t>(layer.input.size()));
    layer.bias.push_back(-0.3f);
  }
  layer.value.assign(layer.input.size(), 0.0625f);
  return layer;
}

// The rows and weights of a word's four connections after each other.
std::vector<std::uint32_t> rows_of(const SliceOrder& order) {
  std::vector<std::uint32_t> rows;
  for (const uint2& words : order.row) {
    for (const std::uint32_t word : {words.x, words.y}) {
      rows.insert(rows.end(), {word & 0xffff, word >> 16});
    }
  }
  return rows;
}
std::vector<float> weights_of(const SliceOrder& order) {
  std::vector<float> weights;
  for (const uint4& words : order.weight) {
    for (const std::uint32_t word : {words.x, words.y, words.z, words.w}) {
      weights.push_back(std::bit_cast<float>(word));
    }
  }
  return weights;
}

// What the output in row `at` reads according to the order: row to weight, without pads.
std::map<std::uint32_t, float> read_by(const SliceOrder& order, std::uint32_t at) {
  std::map<std::uint32_t, float> read;
  const std::vector<std::uint32_t> rows = rows_of(order);
  const std::vector<float> weights = weights_of(order);
  const std::uint32_t slice = at / kLanes, lane = at % kLanes;
  std::size_t step = 0;
  for (std::uint32_t s = 0; s < slice; ++s) step += order.steps[s];
  for (const std::size_t end = step + order.steps[slice]; step < end; ++step) {
    for (std::uint32_t i = 0; i < kStep; ++i) {
      const std::size_t entry = (step * kLanes + lane) * kStep + i;
      if (weights[entry] != 0) CHECK(read.emplace(rows[entry], weights[entry]).second);
    }
  }
  return read;
}

void check_order(const SparseLayer& layer, std::span<const std::uint32_t> position,
                 const SliceOrder& order) {
  const std::vector<std::uint32_t> rows = positions_of(order.output, layer.outputs());
  CHECK(std::set(rows.begin(), rows.end()).size() == layer.outputs());
  for (std::uint32_t j = 0; j < layer.outputs(); ++j) {
    CHECK(order.output[rows[j]] == j);
    std::map<std::uint32_t, float> expected;
    for (std::uint32_t k = layer.row_begin[j]; k < layer.row_begin[j + 1]; ++k) {
      if (layer.value[k] != 0) expected[position[layer.input[k]]] = layer.value[k];
    }
    CHECK(read_by(order, rows[j]) == expected);
  }
  const std::vector<std::uint32_t> all = rows_of(order);
  CHECK(std::all_of(all.begin(), all.end(), [&](std::uint32_t row) {
    return row < layer.inputs || std::find(position.begin(), position.end(), row) != position.end();
  }));
}

}  // namespace

TEST_CASE("every output keeps its connections, whatever the bank groups") {
  const challenge::MemoryNetwork network =
      challenge::random_network({.widths = {37, 50, 3, 64, 29, 200, 7}, .seed = 5});
  for (const std::uint32_t bank_groups : {1u, 2u, 4u, 8u}) {
    std::vector<std::uint32_t> position = identity(network.neurons());
    for (std::uint32_t l = 0; l < network.layers(); ++l) {
      const SparseLayer layer = network.layer(l);
      const SliceOrder order = ordered(layer, position, bank_groups, 2);
      check_order(layer, position, order);
      for (const std::uint32_t steps : order.steps) CHECK(steps % 2 == 0);
      position = positions_of(order.output, layer.outputs());
    }
  }
}

TEST_CASE("lanes that are served together mostly read different banks") {
  const SparseLayer layer = regular_layer(512, 3);
  const std::vector<std::uint32_t> position = identity(512);
  for (const std::uint32_t bank_groups : {2u, 4u, 8u}) {
    const SliceOrder order = ordered(layer, position, bank_groups, 2);
    CAPTURE(bank_groups);
    CHECK(order.accesses == 512 * 32 / bank_groups);
    CHECK(static_cast<double>(order.passes) < 1.2 * static_cast<double>(order.accesses));
  }
  CHECK(ordered(layer, position, 1, 2).passes == 512 * 32);
}

TEST_CASE("two outputs that read even rows and two that read odd ones never meet") {
  SparseLayer layer{
      .inputs = 8, .row_begin = {0, 4, 8, 12, 16}, .input = {}, .value = {}, .bias = {}};
  layer.input = {0, 2, 4, 6, 0, 2, 4, 6, 1, 3, 5, 7, 1, 3, 5, 7};
  layer.value.assign(16, 1.0f);
  layer.bias.assign(4, 0.0f);
  const SliceOrder order = ordered(layer, identity(8), 2, 1);
  CHECK(order.passes == order.accesses);
  CHECK(order.slices() == 1);
}

TEST_CASE("a slice without connections takes steps of zeros") {
  SparseLayer layer{.inputs = 40, .row_begin = {}, .input = {}, .value = {}, .bias = {}};
  layer.row_begin.assign(41, 0);
  layer.bias.assign(40, 0.5f);
  std::vector<std::uint32_t> position(40);
  std::iota(position.begin(), position.end(), 0u);
  const SliceOrder order = ordered(layer, position, 8, 2);
  CHECK(order.steps == std::vector<std::uint32_t>{2, 2});
  for (const float weight : weights_of(order)) CHECK(weight == 0.0f);
}

TEST_CASE("an order is the same every time") {
  const SparseLayer layer = regular_layer(256, 5);
  const SliceOrder a = ordered(layer, identity(256), 4, 2);
  const SliceOrder b = ordered(layer, identity(256), 4, 2);
  CHECK(a.output == b.output);
  CHECK(rows_of(a) == rows_of(b));
  CHECK(weights_of(a) == weights_of(b));
}

}  // namespace winnow
