#include "runtime/challenge/engines/reference/compact_layer.h"

#include <doctest/doctest.h>

#include "runtime/base/random.h"

namespace winnow::challenge {
namespace {

using Values = std::vector<double>;

// Rows of 0 to 3 connections, the last input among them.
SparseLayer random_layer(std::uint32_t inputs, bool has_equal_weights, bool has_equal_biases) {
  Random random(inputs);
  SparseLayer layer{.inputs = inputs, .row_begin = {0}, .input = {}, .value = {}, .bias = {}};
  for (std::uint32_t j = 0; j < 40; ++j) {
    std::uint32_t next = 0;
    for (std::uint64_t k = random.below(4); k > 0 && next < inputs; --k) {
      const std::uint32_t input =
          j == 7 ? inputs - 1 : next + static_cast<std::uint32_t>(random.below(inputs - next));
      layer.input.push_back(input);
      layer.value.push_back(has_equal_weights ? 0.0625f
                                              : static_cast<float>(random.uniform(-9, 30)));
      next = input + 1;
    }
    layer.row_begin.push_back(layer.connections());
    layer.bias.push_back(has_equal_biases ? -0.3f : static_cast<float>(random.uniform(-1, 1)));
  }
  return layer;
}

Values plain(const SparseLayer& layer, const Values& in) {
  Values out;
  for (std::uint32_t j = 0; j < layer.outputs(); ++j) {
    double z = 0;
    for (std::uint32_t k = layer.row_begin[j]; k < layer.row_begin[j + 1]; ++k) {
      z += double{layer.value[k]} * in[layer.input[k]];
    }
    if (z != 0) z += layer.bias[j];
    out.push_back(z < 0 ? 0 : z > 32 ? 32 : z);
  }
  return out;
}

}  // namespace

TEST_CASE("a compact layer gives what plain loops over its connections give") {
  for (const std::uint32_t inputs : {1u, 40u, 65536u, 65537u, 200000u}) {
    for (const bool has_equal_weights : {false, true}) {
      for (const bool has_equal_biases : {false, true}) {
        CAPTURE(inputs);
        const SparseLayer layer = random_layer(inputs, has_equal_weights, has_equal_biases);
        Random random(inputs + 1);
        Values in(inputs), out = {1, 2, 3};
        for (double& value : in) value = random.chance(0.3) ? 0 : random.uniform(0, 32);
        CompactLayer(layer).run(in, out);
        CHECK(out == plain(layer, in));
      }
    }
  }
}

TEST_CASE("a compact layer may have no connections") {
  Values out;
  const SparseLayer layer{
      .inputs = 2, .row_begin = {0, 0, 0}, .input = {}, .value = {}, .bias = {1, -1}};
  CompactLayer(layer).run({5, 6}, out);
  CHECK(out == Values{0, 0});
}

}  // namespace winnow::challenge
