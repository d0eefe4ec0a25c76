#include "runtime/challenge/engines/grouped/group_weights.h"

#include <doctest/doctest.h>

#include <cstring>

#include "tests/challenge/engines/grouped/shared_network.h"
#include "tests/challenge/random_network.h"

namespace winnow::challenge {
namespace {

template <typename T>
bool holds(const T* array, const std::vector<T>& values) {
  if (values.empty()) return array == nullptr;
  return std::memcmp(array, values.data(), values.size() * sizeof(T)) == 0;
}

void check_piece_of(const GroupedLayer& layer) {
  const GroupPiece piece(layer);
  std::vector<std::byte> bytes(piece.bytes());
  piece.write(layer, bytes);
  const GroupView view = piece.view(bytes.data());
  CHECK(view.groups == layer.groups());
  CHECK(view.weight_terms == layer.weight_terms);
  CHECK(view.steps == layer.steps());
  CHECK(view.has_positive_bias == layer.has_positive_bias());
  CHECK(view.most_panel_rows == layer.most_panel_rows());
  CHECK(view.reads_whole_groups == layer.reads_whole_groups());
  CHECK(holds(view.step_begin, layer.step_begin));
  CHECK(holds(view.input, layer.input));
  CHECK(holds(view.weight, layer.weight));
  CHECK(holds(view.bias, layer.bias));
  CHECK(holds(view.panel_begin, layer.panel_begin));
  CHECK(holds(view.panel_row, layer.panel_row));
  CHECK(holds(view.local, layer.local));
  CHECK(holds(view.panel_reads, layer.panel_reads));
  CHECK(holds(view.panel_group, layer.panel_group));
}

GroupedLayer grouped(const SparseLayer& layer, const std::vector<std::uint32_t>& rows) {
  return group_layer(layer, chain_groups(find_input_groups(layer), layer.inputs), rows);
}

}  // namespace

TEST_CASE("a piece has every array of a layer, and its view points at them") {
  const MemoryNetwork network = class_network(512, 2, {});
  const SparseLayer first = network.layer(0);
  const auto rows = rows_of_outputs(chain_groups(find_input_groups(first), first.inputs));
  const GroupedLayer whole_groups = grouped(network.layer(1), rows);
  REQUIRE_FALSE(whole_groups.panel_reads.empty());
  check_piece_of(whole_groups);
  const GroupedLayer mixed = grouped(random_network({.widths = {90, 45}, .seed = 2}).layer(0), {});
  REQUIRE(mixed.panel_reads.empty());
  check_piece_of(mixed);
}

TEST_CASE("arrays begin at multiples of 256") {
  const GroupedLayer layer = grouped(shared_layer({.inputs = 100, .outputs = 70}), {});
  const GroupPiece piece(layer);
  CHECK(piece.bytes() % 256 == 0);
  const GroupView view = piece.view(nullptr);
  for (const void* array :
       {static_cast<const void*>(view.input), static_cast<const void*>(view.weight),
        static_cast<const void*>(view.local)}) {
    CHECK(reinterpret_cast<std::uintptr_t>(array) % 256 == 0);
  }
}

}  // namespace winnow::challenge
