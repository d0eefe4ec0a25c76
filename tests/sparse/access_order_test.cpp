#include "runtime/sparse/access_order.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>

#include "tests/sparse/rows.h"

namespace winnow {
namespace {

// One set whose outputs together read every bank group equally often, in no order.
SparseLayer level_layer(const AccessShape& shape, std::uint32_t accesses, std::mt19937& random) {
  std::vector<std::vector<std::uint32_t>> read(shape.outputs());
  std::vector<std::uint32_t> bank_group(shape.bank_groups), next(shape.bank_groups);
  std::iota(bank_group.begin(), bank_group.end(), 0u);
  for (std::uint32_t a = 0; a < accesses; ++a) {
    std::ranges::shuffle(bank_group, random);
    for (std::uint32_t i = 0; i < shape.bank_groups; ++i) {
      const std::uint32_t c = bank_group[i];
      read[i / shape.reads].push_back(c + shape.bank_groups * next[c]++);
    }
  }
  SparseLayer layer{.inputs = shape.bank_groups * accesses,
                    .row_begin = {0},
                    .input = {},
                    .value = {},
                    .bias = std::vector<float>(shape.outputs())};
  for (std::vector<std::uint32_t>& inputs : read) {
    std::ranges::sort(inputs);
    layer.input.insert(layer.input.end(), inputs.begin(), inputs.end());
    layer.row_begin.push_back(layer.connections());
  }
  for (std::uint32_t k = 0; k < layer.connections(); ++k) {
    layer.value.push_back(static_cast<float>(k + 1));
  }
  return layer;
}

TEST_CASE("a set that reads all bank groups equally often takes one pass an access") {
  std::mt19937 random(5);
  for (const AccessShape shape : {AccessShape{8, 1}, AccessShape{4, 1}, AccessShape{2, 1},
                                  AccessShape{8, 2}, AccessShape{4, 2}, AccessShape{2, 2}}) {
    for (const std::uint32_t accesses : {1u, 2u, 9u, 32u}) {
      CAPTURE(shape.bank_groups);
      CAPTURE(shape.reads);
      CAPTURE(accesses);
      const SparseLayer layer = level_layer(shape, accesses, random);
      const auto position = identity(layer.inputs);
      AccessOrder order(layer, position, shape);
      const auto outputs = order.outputs_in_sets();
      const auto reads = order.reads_of(outputs, accesses * shape.reads);
      CHECK(order.accesses() == accesses);
      CHECK(order.passes() == accesses);
      for (std::uint32_t i = 0; i < outputs.size(); ++i) {
        std::map<std::uint32_t, float> read, expected;
        for (const RowRead& r : reads[i]) read[r.row] = r.weight;
        for (std::uint32_t k = layer.row_begin[outputs[i]]; k < layer.row_begin[outputs[i] + 1];
             ++k) {
          expected[layer.input[k]] = layer.value[k];
        }
        CHECK(read == expected);
      }
    }
  }
}

TEST_CASE("what is too much for a bank group is read all the same, in a pass of its own") {
  SparseLayer layer{
      .inputs = 8, .row_begin = {0, 2, 4}, .input = {0, 2, 4, 6}, .value = {}, .bias = {0, 0}};
  layer.value = {1, 2, 3, 4};
  const auto position = identity(8);
  AccessOrder order(layer, position, {.bank_groups = 2});
  const auto reads = order.reads_of(std::vector<std::uint32_t>{0, 1}, 2);
  CHECK(reads[0][0].weight + reads[0][1].weight == 3);
  CHECK(reads[1][0].weight + reads[1][1].weight == 7);
  CHECK(order.accesses() == 2);
  CHECK(order.passes() == 4);
}

TEST_CASE("places that nobody fills read a row of the layer with weight 0") {
  const SparseLayer layer{
      .inputs = 3, .row_begin = {0, 1}, .input = {2}, .value = {5}, .bias = {0}};
  const auto position = identity(3);
  AccessOrder order(layer, position, {.bank_groups = 8});
  std::vector<std::uint32_t> outputs(8, kNoOutput);
  outputs[3] = 0;
  float sum = 0;
  for (const auto& list : order.reads_of(outputs, 4)) {
    CHECK(list.size() == 4);
    for (const RowRead& read : list) {
      CHECK(read.row < 3);
      sum += read.weight;
    }
  }
  CHECK(sum == 5);
}

}  // namespace
}  // namespace winnow
