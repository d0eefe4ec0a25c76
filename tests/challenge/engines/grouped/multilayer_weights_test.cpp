#include "runtime/challenge/engines/grouped/multilayer_weights.h"

#include <doctest/doctest.h>

#include <cstring>
#include <map>
#include <set>

#include "runtime/base/half.h"
#include "runtime/challenge/engines/grouped/layout/bank_order.h"
#include "tests/challenge/engines/grouped/shared_network.h"
#include "tests/challenge/random_network.h"

namespace winnow::challenge {
namespace {

using Connections = std::map<std::pair<std::uint32_t, std::uint32_t>, float>;  // output, input row

RecordTail end_of(const PackedLayer& layer, std::uint32_t group) {
  const std::size_t bytes = record_bytes(layer.weight_terms);
  RecordTail end{};
  std::memcpy(
      &end, reinterpret_cast<const char*>(layer.records.data()) + (group + 1) * bytes - sizeof(end),
      sizeof(end));
  return end;
}

// By PTX's table: lane 4 n + q holds of 16 x 16 weights the rows n and n + 8 and the columns 2 q,
// 2 q + 1, 2 q + 8, 2 q + 9.
Connections read_back(const PackedLayer& layer) {
  Connections all;
  const std::size_t words = record_bytes(layer.weight_terms) / 4;
  for (std::uint32_t g = 0; g < layer.groups; ++g) {
    const RecordTail end = end_of(layer, g);
    for (std::uint32_t i = 0; i < layer.weight_terms * 2 * 32 * 4; ++i) {
      const std::uint32_t word = layer.records[g * words + i];
      const std::uint32_t lane = i / 4 % 32, fragment = i / 128 % 2;
      for (std::uint32_t half = 0; half < 2; ++half) {
        const float weight = to_float(Half{static_cast<std::uint16_t>(word >> 16 * half)});
        if (weight == 0) continue;
        const std::uint32_t output = lane / 4 + i % 2 * 8;
        const std::uint32_t column = fragment * 16 + lane % 4 * 2 + i % 4 / 2 * 8 + half;
        all[{g * kGroupOutputs + output, end.input[column / 8][column % 8] / 2u}] += weight;
      }
    }
  }
  return all;
}

GroupedLayer grouped(const SparseLayer& layer) {
  std::vector<std::uint32_t> same(layer.inputs);
  for (std::uint32_t i = 0; i < layer.inputs; ++i) same[i] = i;
  return group_layer(layer, find_input_groups(layer), same);
}

void check_layer_of(const SparseLayer& layer, std::uint32_t terms) {
  const GroupedLayer from = grouped(layer);
  REQUIRE(can_pack(from));
  const PackedLayer packed = pack_layer(from);
  CHECK(packed.weight_terms == terms);
  CHECK(packed.groups == from.groups());
  const auto rows = rows_of_outputs(find_input_groups(layer));
  Connections expected;
  for (std::uint32_t j = 0; j < layer.outputs(); ++j) {
    for (std::uint32_t k = layer.row_begin[j]; k < layer.row_begin[j + 1]; ++k) {
      expected[{rows[j], layer.input[k]}] = layer.value[k];
    }
    const RecordTail end = end_of(packed, rows[j] / kGroupOutputs);
    CHECK(end.bias[rows[j] % 8][rows[j] % kGroupOutputs / 8] == layer.bias[j] * kActivationScale);
  }
  CHECK(read_back(packed) == expected);
}

}  // namespace

TEST_CASE("records hold every weight, input and bias") {
  check_layer_of(shared_layer({.inputs = 100, .outputs = 70, .connections = 31}), 1);
  check_layer_of(shared_layer({.inputs = 40, .outputs = 33, .weight_unit = 1 + 1.0f / 4096}), 2);
  check_layer_of(shared_layer({.inputs = 20, .outputs = 5, .connections = 1}), 1);
}

TEST_CASE("inputs that are read together lie in different banks if the rows allow it") {
  // Groups of a class network read two sequences of 16 rows.
  const MemoryNetwork network = class_network(256, 2, {});
  const SparseLayer second = network.layer(1);
  const auto rows = rows_of_outputs(find_input_groups(network.layer(0)));
  const PackedLayer layer = pack_layer(group_layer(second, find_input_groups(second), rows));
  for (std::uint32_t g = 0; g < layer.groups; ++g) {
    for (const auto& matrix : end_of(layer, g).input) {
      std::set<std::uint32_t> banks;
      for (const std::uint16_t place : matrix) banks.insert(place % 8u);
      CHECK(banks.size() == 8);
    }
  }
}

TEST_CASE("rows with different numbers modulo 8 have different places modulo 8") {
  for (std::uint32_t first = 0; first < 64; ++first) {
    std::set<std::uint32_t> places;
    for (std::uint32_t r = first; r < first + kBankGroups; ++r) places.insert(swizzled_row(r) % 8);
    CHECK(places.size() == 8);
    CHECK(swizzled_row(first) / 2 == first);
  }
}

TEST_CASE("rows beyond 16 bits of places are not for multilayer_kernel") {
  const SparseLayer layer = shared_layer({.inputs = 40, .outputs = 16, .connections = 40});
  const auto packed_with_row = [&](std::uint32_t highest) {
    std::vector<std::uint32_t> rows(layer.inputs);
    for (std::uint32_t i = 0; i < layer.inputs; ++i) rows[i] = i;
    rows.back() = highest;
    SparseLayer few = layer;  // one step: the inputs from 8 on
    few.input.clear();
    few.value.clear();
    for (std::uint32_t j = 0; j < few.outputs(); ++j) {
      for (std::uint32_t i = 8; i < few.inputs; ++i) {
        few.input.push_back(i);
        few.value.push_back(1);
      }
      few.row_begin[j + 1] = few.connections();
    }
    return group_layer(few, find_input_groups(few), rows);
  };
  CHECK_FALSE(can_pack(packed_with_row(0x8000)));
  const GroupedLayer fits = packed_with_row(0x7fff);
  REQUIRE(can_pack(fits));
  std::set<std::uint32_t> places;
  for (const auto& matrix : end_of(pack_layer(fits), 0).input) {
    places.insert(matrix, matrix + 8);
  }
  CHECK(places.count(swizzled_row(0x7fff)) == 1);
}

TEST_CASE("layers of more than one step are not for multilayer_kernel") {
  CHECK_FALSE(can_pack(grouped(shared_layer({.inputs = 200, .connections = 33}))));
  CHECK_FALSE(can_pack(grouped(random_network({.widths = {300, 100}}).layer(0))));
}

}  // namespace winnow::challenge
