#include "runtime/challenge/engines/grouped/layout/grouped_layer.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "runtime/base/half.h"
#include "runtime/challenge/engines/grouped/layout/panel_reads.h"
#include "tests/challenge/engines/grouped/shared_network.h"
#include "tests/challenge/random_network.h"
#include "tests/throws.h"

namespace winnow::challenge {
namespace {

using Connections = std::map<std::pair<std::uint32_t, std::uint32_t>, float>;  // row, input row

float half_of(std::uint32_t word, std::uint32_t index) {
  return to_float(Half{static_cast<std::uint16_t>(word >> 16 * index)});
}

// What the fragments say, by PTX's tables: lane 4 n + q holds of 16 x 16 weights the rows n and
// n + 8 and the columns 2 q, 2 q + 1, 2 q + 8, 2 q + 9.
Connections read_back(const GroupedLayer& grouped) {
  Connections all;
  const auto add = [&](std::uint32_t row, std::uint32_t input, float weight) {
    if (weight != 0) all[{row, input}] += weight;
  };
  for (std::uint32_t g = 0; g < grouped.groups(); ++g) {
    for (std::uint32_t s = grouped.step_begin[g]; s < grouped.step_begin[g + 1]; ++s) {
      for (std::uint32_t term = 0; term < grouped.weight_terms; ++term) {
        for (std::uint32_t f = 0; f < 2; ++f) {
          for (std::uint32_t lane = 0; lane < 32; ++lane) {
            const uint4 w = grouped.weight[((s * grouped.weight_terms + term) * 2 + f) * 32 + lane];
            const uint4 in = grouped.input[(s * 2 + f) * 4 + lane % 4];
            const std::uint32_t row = g * kGroupOutputs + lane / 4;
            for (std::uint32_t i = 0; i < 2; ++i) {
              const std::uint32_t near = i == 0 ? in.x : in.y, far = i == 0 ? in.z : in.w;
              add(row, near, half_of(w.x, i));
              add(row + 8, near, half_of(w.y, i));
              add(row, far, half_of(w.z, i));
              add(row + 8, far, half_of(w.w, i));
            }
          }
        }
      }
    }
  }
  return all;
}

Connections expected_of(const SparseLayer& layer, const std::vector<std::uint32_t>& row_of_output,
                        const std::vector<std::uint32_t>& row_of_input, float scale) {
  Connections all;
  for (std::uint32_t j = 0; j < layer.outputs(); ++j) {
    for (std::uint32_t k = layer.row_begin[j]; k < layer.row_begin[j + 1]; ++k) {
      all[{row_of_output[j], row_of_input[layer.input[k]]}] = layer.value[k] * scale;
    }
  }
  return all;
}

void check_layer_of(const SparseLayer& layer, std::uint32_t terms) {
  const InputGroups groups = find_input_groups(layer);
  std::vector<std::uint32_t> row_of_input(layer.inputs);
  for (std::uint32_t i = 0; i < layer.inputs; ++i) row_of_input[i] = layer.inputs - 1 - i;
  const GroupedLayer grouped = group_layer(layer, groups, row_of_input);
  const auto rows = rows_of_outputs(groups);
  CHECK(grouped.weight_terms == terms);
  CHECK(read_back(grouped) == expected_of(layer, rows, row_of_input, 1));
  for (std::uint32_t j = 0; j < layer.outputs(); ++j) {
    CHECK(grouped.bias[rows[j]] == layer.bias[j] * kActivationScale);
  }
}

}  // namespace

TEST_CASE("fragments hold every weight once") {
  check_layer_of(shared_layer({.inputs = 100, .outputs = 70, .connections = 33}), 1);
  check_layer_of(random_network({.widths = {90, 45}, .seed = 2}).layer(0), 1);
}

TEST_CASE("weights that are no halves are the sum of two") {
  check_layer_of(shared_layer({.outputs = 33, .weight_unit = 1 + 1.0f / 4096}), 2);
}

TEST_CASE("the first layer's weights make up for the value of a bit") {
  const SparseLayer layer = shared_layer({});
  const InputGroups groups = find_input_groups(layer);
  std::vector<std::uint32_t> same(layer.inputs);
  for (std::uint32_t i = 0; i < layer.inputs; ++i) same[i] = i;
  CHECK(read_back(group_layer(layer, groups, {})) ==
        expected_of(layer, rows_of_outputs(groups), same, kActivationScale / kBitValue));
}

TEST_CASE("steps and signs of biases are known for a layer as a whole") {
  const auto grouped = [](const SparseLayer& layer) {
    return group_layer(layer, find_input_groups(layer), {});
  };
  CHECK(grouped(shared_layer({.inputs = 200, .connections = 33})).steps() == 2);
  CHECK(grouped(random_network({.widths = {300, 100}}).layer(0)).steps() == 0);
  CHECK_FALSE(grouped(shared_layer({.bias = 0})).has_positive_bias());
  CHECK(grouped(shared_layer({.bias = 0.5f})).has_positive_bias());
}

TEST_CASE("whole groups of the layer before are recognised") {
  const auto second_layer = [](const MemoryNetwork& network) {
    const SparseLayer first = network.layer(0), second = network.layer(1);
    const auto rows = rows_of_outputs(chain_groups(find_input_groups(first), first.inputs));
    return group_layer(second, chain_groups(find_input_groups(second), second.inputs), rows);
  };
  CHECK(second_layer(class_network(256, 2, {})).reads_whole_groups());
  CHECK(second_layer(class_network(256, 2, {})).most_panel_rows() <= 16 * 9);
  CHECK_FALSE(second_layer(shared_network({64, 64, 64}, {})).reads_whole_groups());
}

TEST_CASE("a panel names the groups that it reads, the one it carries over last") {
  const MemoryNetwork network = class_network(512, 2, {});
  const SparseLayer first = network.layer(0), second = network.layer(1);
  const auto rows = rows_of_outputs(chain_groups(find_input_groups(first), first.inputs));
  const GroupedLayer layer =
      group_layer(second, chain_groups(find_input_groups(second), second.inputs), rows);
  REQUIRE(layer.panel_reads.size() == 4);
  CHECK_FALSE(PanelReads{layer.panel_reads[0]}.is_carried());
  std::uint32_t carried = 0;
  for (std::uint32_t p = 0; p < 4; ++p) {
    const PanelReads reads{layer.panel_reads[p]};
    const auto row = [&](std::uint32_t panel, std::uint32_t number) {
      return layer.panel_row[layer.panel_begin[panel] + number * kGroupOutputs];
    };
    CHECK(reads.groups() * kGroupOutputs == layer.panel_begin[p + 1] - layer.panel_begin[p]);
    std::vector<bool> is_named(reads.groups());
    for (std::uint32_t i = 0; i < reads.groups(); ++i) {
      const std::uint32_t entry = layer.panel_group[p * kMostPanelReads + i], number = entry >> 24;
      CHECK((entry & 0xffffff) * kGroupOutputs == row(p, number));
      is_named[number] = true;
      if (reads.is_carried()) CHECK((number == reads.here()) == (i + 1 == reads.groups()));
    }
    CHECK(std::ranges::count(is_named, false) == 0);
    if (!reads.is_carried()) continue;
    CHECK(row(p, reads.here()) == row(p - 1, reads.there()));
    ++carried;
  }
  CHECK(carried == 2);  // inputs are 2 classes apart: a chain of even ones, one of odd ones
}

TEST_CASE("a weight beyond fp16 is refused") {
  const SparseLayer layer = shared_layer({.weight_unit = 70000});
  CHECK(error_of([&] { group_layer(layer, find_input_groups(layer), {0}); }) == ErrorCode::usage);
}

}  // namespace winnow::challenge
