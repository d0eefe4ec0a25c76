#include "runtime/sparse/gather_weights.h"

#include <doctest/doctest.h>

#include <map>
#include <random>

#include "tests/sparse/rows.h"

namespace winnow {
namespace {

using Connections = std::map<std::uint32_t, float>;  // input to weight

Connections of_layer(const SparseLayer& layer, std::uint32_t output) {
  Connections connections;
  for (std::uint32_t k = layer.row_begin[output]; k < layer.row_begin[output + 1]; ++k) {
    connections[layer.input[k]] = layer.value[k];
  }
  return connections;
}

// Of an output of a quad.
float4 quad_values(const GatherView& view, std::uint32_t step, std::uint32_t output) {
  float of[4];
  for (std::uint32_t c = 0; c < 4; ++c) {
    const float4 value = view.quad_value[step * 4 + c];
    of[c] = output == 0 ? value.x : output == 1 ? value.y : output == 2 ? value.z : value.w;
  }
  return {of[0], of[1], of[2], of[3]};
}

// What the output at a place reads; what fills its last step reads an input of its own.
Connections at_place(const GatherView& view, std::uint32_t place) {
  Connections connections;
  const std::uint32_t in_quads = view.quads * kQuad;
  const std::uint32_t unit = place < in_quads ? place / kQuad : place - (kQuad - 1) * view.quads;
  for (std::uint32_t step = view.begin[unit]; step < view.begin[unit + 1]; ++step) {
    const uint2 pairs = view.narrow == nullptr ? uint2{} : view.narrow[step];
    const uint4 input = view.narrow == nullptr ? view.wide[step]
                                               : uint4{pairs.x & 0xffff, pairs.x >> 16,
                                                       pairs.y & 0xffff, pairs.y >> 16};
    const float4 value =
        place < in_quads ? quad_values(view, step, place % kQuad) : view.single_value[step];
    connections[input.x] += value.x;
    connections[input.y] += value.y;
    connections[input.z] += value.z;
    connections[input.w] += value.w;
  }
  return connections;
}

void check_piece(const SparseLayer& layer, const GatherOrder& order) {
  const GatherLayout layout(layer, order);
  const std::vector<uint4> piece = pack_for_gather(layer, layout, order);
  REQUIRE(piece.size() == layout.size());
  const GatherView view = layout.view(piece.data());
  REQUIRE(view.outputs == layer.outputs());
  CHECK(view.inputs == layer.inputs);
  CHECK(view.quads == order.quads);
  CHECK(view.units() == layer.outputs() - 3 * order.quads);
  CHECK(view.begin[0] == 0);
  for (std::uint32_t place = 0; place < view.outputs; ++place) {
    const std::uint32_t output = order.output.empty() ? place : order.output[place];
    CHECK(view.output[place] == output);
    CHECK(view.bias[place] == layer.bias[output]);
    CHECK(at_place(view, place) == of_layer(layer, output));
  }
}

// Output j has j % 10 connections, so that steps have pads, and shares its inputs with output
// j + 10.
SparseLayer ragged_layer(std::uint32_t inputs, std::uint32_t outputs) {
  SparseLayer layer{.inputs = inputs, .row_begin = {0}, .input = {}, .value = {}, .bias = {}};
  for (std::uint32_t j = 0; j < outputs; ++j) {
    for (std::uint32_t k = 0; k < j % 10; ++k) {
      layer.input.push_back(inputs - 10 + k);
      layer.value.push_back(static_cast<float>(j) + 0.5f * static_cast<float>(k) + 1);
    }
    layer.row_begin.push_back(layer.connections());
    layer.bias.push_back(-0.5f * static_cast<float>(j));
  }
  return layer;
}

TEST_CASE("a packed layer has its connections, in any order of the outputs") {
  std::mt19937 random(3);
  for (const std::uint32_t inputs : {10u, 65536u, 65537u}) {
    for (const std::uint32_t outputs : {1u, 7u, 33u}) {
      CAPTURE(inputs);
      CAPTURE(outputs);
      const SparseLayer layer = ragged_layer(inputs, outputs);
      check_piece(layer, {});
      check_piece(layer, {.output = shuffled(outputs, random), .quads = 0});
    }
  }
}

TEST_CASE("outputs that read the same inputs have them once") {
  std::mt19937 random(4);
  for (const std::uint32_t inputs : {40u, 65537u}) {
    const SparseLayer layer = ragged_layer(inputs, 47);
    GatherOrder order;
    std::vector<std::uint32_t> single;
    for (const std::uint32_t j : shuffled(10, random)) {
      for (std::uint32_t i = 0; i < 4; ++i) order.output.push_back(j + 10 * i);
      if (j + 40 < 47) single.push_back(j + 40);
    }
    order.quads = 10;
    order.output.insert(order.output.end(), single.begin(), single.end());
    check_piece(layer, order);
    const std::size_t saved = GatherLayout(layer).size() - GatherLayout(layer, order).size();
    // Three of four outputs' steps: 10 quads of 0, 1, 1, 1, 1, 2, 2, 2, 2 and 3 steps.
    CHECK(saved >= 3 * 15 * (inputs > 65536 ? 1 : 0.5));
  }
}

}  // namespace
}  // namespace winnow
