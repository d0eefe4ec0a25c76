#include "runtime/challenge/engines/grouped/layer_preparation.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "runtime/base/error.h"
#include "runtime/base/file.h"
#include "runtime/challenge/engines/grouped/layout/bank_order.h"
#include "runtime/challenge/files/binary/network_file.h"
#include "tests/challenge/engines/grouped/shared_network.h"
#include "tests/temporary_directory.h"
#include "tests/throws.h"

namespace winnow::challenge {
namespace {

using Bytes = std::vector<std::byte>;

void append(Bytes& all, const auto& values) {
  const auto bytes = std::as_bytes(std::span(values));
  all.insert(all.end(), bytes.begin(), bytes.end());
}

// All that goes to the device, of one layer.
Bytes bytes_of(const GroupedLayer& layer, const PackedLayer& packed) {
  Bytes all;
  append(all, std::vector{layer.weight_terms, packed.groups, packed.weight_terms});
  append(all, layer.step_begin);
  append(all, layer.input);
  append(all, layer.weight);
  append(all, layer.bias);
  append(all, layer.panel_begin);
  append(all, layer.panel_row);
  append(all, layer.local);
  append(all, layer.panel_reads);
  append(all, layer.panel_group);
  append(all, packed.records);
  return all;
}

// Layer after layer, without threads and without memory that is used again.
std::vector<Bytes> expected_of(const Network& network, const MultilayerLimits& limits) {
  std::vector<InputGroups> groups;
  for (std::uint32_t l = 0; l < network.layers(); ++l) {
    const SparseLayer layer = network.layer(l);
    groups.push_back(chain_groups(find_input_groups(layer), layer.inputs));
  }
  std::vector<Bytes> all;
  std::vector<std::uint32_t> rows;
  for (std::uint32_t l = 0; l < network.layers(); ++l) {
    const bool has_next = l + 1 < network.layers();
    if (has_next && l + 1 >= limits.from &&
        std::max(groups[l].size(), groups[l + 1].size()) <= limits.most_groups[0]) {
      order_for_banks(groups[l], groups[l + 1]);
    }
    const GroupedLayer grouped = group_layer(network.layer(l), groups[l], rows);
    const std::uint32_t before = l == 0 ? 0 : groups[l - 1].size();
    const bool is_packed =
        l >= limits.from && can_pack(grouped) &&
        std::max(before, groups[l].size()) <= limits.most_groups[grouped.weight_terms - 1];
    all.push_back(bytes_of(grouped, is_packed ? pack_layer(grouped) : PackedLayer{}));
    rows = rows_of_outputs(groups[l]);
  }
  return all;
}

void check_network(const Network& network, const MultilayerLimits& limits) {
  const std::vector<Bytes> expected = expected_of(network, limits);
  for (const int threads : {1, 2, 3, 7}) {
    CAPTURE(threads);
    std::vector<Bytes> stored(64), taken;
    LayerPreparation preparation(network, limits, threads);
    REQUIRE(preparation.slots() <= stored.size());
    preparation.run(
        [&](const PreparedLayer& layer, std::uint32_t slot) {
          stored[slot] = bytes_of(layer.grouped, layer.packed);
        },
        [&](const PreparedLayer&, std::uint32_t slot) { taken.push_back(stored[slot]); });
    CHECK(taken == expected);
    CHECK(preparation.ms() > 0);
  }
}

}  // namespace

TEST_CASE("layers are prepared the same for any number of threads") {
  const MultilayerLimits limits{.from = 2, .most_groups = {100, 100}};
  check_network(shared_network(std::vector<std::uint32_t>(40, 300), {.connections = 24}), limits);
  check_network(shared_network({400, 400, 4000, 400, 70, 300, 33, 500}, {.connections = 20}),
                limits);
  check_network(class_network(256, 9, {}), {.from = 0, .most_groups = {0, 0}});
  check_network(shared_network({50, 60}, {}), limits);
}

TEST_CASE("memory that is used again leaves nothing behind") {
  // Weights of two terms and of one, layers of few outputs after layers of many.
  std::vector<SparseLayer> layers;
  for (std::uint32_t l = 0; l < 30; ++l) {
    layers.push_back(shared_layer({.inputs = l == 0 ? 40 : layers.back().outputs(),
                                   .outputs = l % 3 == 0 ? 333u : 17u,
                                   .weight_unit = l % 2 == 0 ? 0.5f : 1 + 1.0f / 4096,
                                   .seed = l}));
  }
  check_network(MemoryNetwork("uneven", std::move(layers)), {.from = 1, .most_groups = {100, 100}});
}

TEST_CASE("a weight out of range ends the preparation") {
  std::vector<SparseLayer> layers(20, shared_layer({}));
  layers[13].value[5] = 1e6f;
  const MemoryNetwork network("too large", std::move(layers));
  for (const int threads : {1, 3}) {
    LayerPreparation preparation(network, {}, threads);
    CHECK(message_of([&] {
            preparation.run([](const PreparedLayer&, std::uint32_t) {},
                            [](const PreparedLayer&, std::uint32_t) {});
          }) == "engine grouped: a weight is 1e+06, at most 65504 fits fp16");
  }
}

TEST_CASE("what a layer's user throws ends the preparation") {
  const MemoryNetwork network = shared_network(std::vector<std::uint32_t>(40, 50), {});
  LayerPreparation preparation(network, {}, 3);
  std::uint32_t taken = 0;
  CHECK(message_of([&] {
          preparation.run([](const PreparedLayer&, std::uint32_t) {},
                          [&](const PreparedLayer&, std::uint32_t) {
                            if (++taken == 5) fail(ErrorCode::interrupted, "interrupted");
                          });
        }) == "interrupted");
  CHECK(taken == 5);
}

TEST_CASE("a layer of a file that was changed is named") {
  const TemporaryDirectory directory;
  NetworkFileWriter writer(directory / "net.wsn", 50, 30);
  const MemoryNetwork network = shared_network(std::vector<std::uint32_t>(31, 50), {});
  for (std::uint32_t l = 0; l < 30; ++l) writer.append(network.layer(l));
  writer.commit();
  std::string bytes = read_text_file(directory / "net.wsn");
  bytes.back() ^= 1;
  const auto changed = open_network_bytes(std::as_bytes(std::span(bytes)), "net.wsn");
  LayerPreparation preparation(*changed, {}, 3);
  CHECK(message_of([&] {
          preparation.run([](const PreparedLayer&, std::uint32_t) {},
                          [](const PreparedLayer&, std::uint32_t) {});
        }) == "net.wsn: layer 29: the checksum does not match");
}

}  // namespace winnow::challenge
