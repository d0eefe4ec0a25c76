#include "runtime/challenge/engines/grouped/grouped_network.h"

#include <doctest/doctest.h>

#include "tests/challenge/engines/grouped/shared_network.h"
#include "tests/gpu/gpu_case.h"

namespace winnow::challenge {
namespace {

using Bytes = std::vector<unsigned char>;

Bytes download(const void* device, std::size_t bytes) {
  Bytes copy(bytes);
  CUDA_CHECK(cudaMemcpy(copy.data(), device, bytes, cudaMemcpyDeviceToHost));
  return copy;
}

// The records of all layers of the multilayer.
std::vector<Bytes> records_of(const GroupedNetwork& network) {
  const MultilayerWeights& multilayer = network.multilayer();
  std::vector<Bytes> all;
  if (multilayer.size() == 0) return all;
  std::vector<PackedLayerView> views(multilayer.size());
  CUDA_CHECK(cudaMemcpy(views.data(), multilayer.views(), views.size() * sizeof(PackedLayerView),
                        cudaMemcpyDeviceToHost));
  for (const PackedLayerView& view : views) {
    all.push_back(download(view.records, view.groups * record_bytes(multilayer.weight_terms())));
  }
  return all;
}

}  // namespace

TEST_CASE("a multilayer begins after the last layer that is not fit for it") {
  if (lacks_gpu()) return;
  const MemoryNetwork network =
      shared_network({400, 400, 4000, 400, 400, 300, 400, 500}, {.connections = 20});
  const auto begin_with = [&](const MultilayerLimits& limits) {
    return GroupedNetwork(network, limits, 1).multilayer_begin();
  };
  CHECK(begin_with({.from = 0, .most_groups = {300, 0}}) == 0);
  CHECK(begin_with({.from = 2, .most_groups = {300, 0}}) == 2);
  CHECK(begin_with({.from = 2, .most_groups = {150, 0}}) == 3);  // layer 2 reads 250 groups
  CHECK(begin_with({.from = 2, .most_groups = {31, 0}}) == 7);   // the last one writes 32
  CHECK(begin_with({.from = 2, .most_groups = {0, 300}}) == 7);  // weights have one term
  CHECK(begin_with({.from = 9, .most_groups = {300, 300}}) == 7);
}

TEST_CASE("a network is the same for any number of threads") {
  if (lacks_gpu()) return;
  const MemoryNetwork network =
      shared_network(std::vector<std::uint32_t>(10, 500), {.connections = 24});
  const MultilayerLimits limits{.from = 2, .most_groups = {100, 100}};
  const GroupedNetwork one(network, limits, 1);
  REQUIRE(one.multilayer().size() == 7);
  for (const int threads : {2, 3, 7, 20}) {
    const GroupedNetwork many(network, limits, threads);
    CHECK(records_of(many) == records_of(one));
    CHECK(many.rows() == one.rows());
  }
}

}  // namespace winnow::challenge
