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

// The records of all layers of the stack.
std::vector<Bytes> records_of(const GroupedNetwork& network) {
  const StackWeights& stack = network.stack();
  std::vector<Bytes> all;
  if (stack.size() == 0) return all;
  std::vector<StackView> views(stack.size());
  CUDA_CHECK(cudaMemcpy(views.data(), stack.views(), views.size() * sizeof(StackView),
                        cudaMemcpyDeviceToHost));
  for (const StackView& view : views) {
    all.push_back(download(view.records, view.groups * stack_record_bytes(stack.parts())));
  }
  return all;
}

}  // namespace

TEST_CASE("a stack begins after the last layer that is not fit for it") {
  if (lacks_gpu()) return;
  const MemoryNetwork network =
      shared_network({400, 400, 4000, 400, 400, 300, 400, 500}, {.connections = 20});
  const auto begin_with = [&](const StackLimits& limits) {
    return GroupedNetwork(network, limits, 1).stack_begin();
  };
  CHECK(begin_with({.from = 0, .most_groups = {300, 0}}) == 0);
  CHECK(begin_with({.from = 2, .most_groups = {300, 0}}) == 2);
  CHECK(begin_with({.from = 2, .most_groups = {150, 0}}) == 3);  // layer 2 reads 250 groups
  CHECK(begin_with({.from = 2, .most_groups = {31, 0}}) == 7);   // the last one writes 32
  CHECK(begin_with({.from = 2, .most_groups = {0, 300}}) == 7);  // weights have one part
  CHECK(begin_with({.from = 9, .most_groups = {300, 300}}) == 7);
}

TEST_CASE("a network is the same for any number of threads") {
  if (lacks_gpu()) return;
  const MemoryNetwork network =
      shared_network(std::vector<std::uint32_t>(10, 500), {.connections = 24});
  const StackLimits limits{.from = 2, .most_groups = {100, 100}};
  const GroupedNetwork one(network, limits, 1);
  REQUIRE(one.stack().size() == 7);
  for (const int threads : {2, 3, 7, 20}) {
    const GroupedNetwork many(network, limits, threads);
    CHECK(records_of(many) == records_of(one));
    CHECK(many.rows() == one.rows());
  }
}

}  // namespace winnow::challenge
