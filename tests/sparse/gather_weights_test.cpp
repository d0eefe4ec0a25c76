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

// What the output at a place reads; what fills its last step reads an input of its own.
Connections at_place(const GatherView& view, std::uint32_t place) {
  Connections connections;
  for (std::uint32_t step = view.begin[place]; step < view.begin[place + 1]; ++step) {
    const uint2 pairs = view.narrow == nullptr ? uint2{} : view.narrow[step];
    const uint4 input = view.narrow == nullptr ? view.wide[step]
                                               : uint4{pairs.x & 0xffff, pairs.x >> 16,
                                                       pairs.y & 0xffff, pairs.y >> 16};
    const float4 value = view.value[step];
    connections[input.x] += value.x;
    connections[input.y] += value.y;
    connections[input.z] += value.z;
    connections[input.w] += value.w;
  }
  return connections;
}

void check_piece(const SparseLayer& layer, std::span<const std::uint32_t> order) {
  const GatherLayout layout(layer);
  const std::vector<uint4> piece = pack_for_gather(layer, layout, order);
  REQUIRE(piece.size() == layout.size());
  const GatherView view = layout.view(piece.data());
  REQUIRE(view.outputs == layer.outputs());
  CHECK(view.inputs == layer.inputs);
  CHECK(view.begin[0] == 0);
  for (std::uint32_t place = 0; place < view.outputs; ++place) {
    const std::uint32_t output = order.empty() ? place : order[place];
    CHECK(view.output[place] == output);
    CHECK(view.bias[place] == layer.bias[output]);
    CHECK(at_place(view, place) == of_layer(layer, output));
  }
}

// Outputs of 0 to 9 connections, so that steps have pads.
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
      check_piece(layer, shuffled(outputs, random));
    }
  }
}

}  // namespace
}  // namespace winnow
