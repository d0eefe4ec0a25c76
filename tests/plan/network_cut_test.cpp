#include "runtime/plan/network_cut.h"

#include <doctest/doctest.h>

#include "tests/model/graphs.h"

namespace winnow {
namespace {

std::vector<std::size_t> narrow_cuts(const Graph& graph) {
  const Program program = build_program(graph, 2);
  std::vector<std::size_t> cuts;
  for (std::size_t cut = 1; cut < program.steps.size(); ++cut) {
    if (is_narrow(program, cut)) cuts.push_back(cut);
  }
  return cuts;
}

// Two convolutions, a pooling: 32, 64 and 40 elements are read and written a sample.
Graph growing_graph() {
  return graph_of({1, 4, 4}, {{"conv1", conv(1, 1, 3, 1), {}},
                              {"conv2", conv(1, 3, 3, 1), {}},
                              {"pool", GlobalPool{}, {}}});
}

}  // namespace

TEST_CASE("a chain may be cut anywhere, a residual block only around it") {
  CHECK(narrow_cuts(growing_graph()) == std::vector<std::size_t>{1, 2});
  // conv1+relu1, conv2, sum, both, pool, fc, out: `both` reads the input, `sum` the first step.
  CHECK(narrow_cuts(joined_graph()) == std::vector<std::size_t>{4, 5, 6});
}

TEST_CASE("the best cut is where the first steps have gained most") {
  const std::vector<double> part = {1, 1, 1, 1}, whole = {5, 3, 1, 9};
  const std::vector<std::size_t> all = {1, 2, 3};
  CHECK(best_cut(part, 2, whole, all) == 2);  // gains 3, 4, 3
  CHECK(best_cut(part, 2, whole, std::vector<std::size_t>{1, 3}) == 1);
  CHECK(best_cut(part, 2, whole, std::vector<std::size_t>{}) == 0);
  CHECK(best_cut(part, 8, whole, all) == 0);
}

TEST_CASE("sub-batches keep what a step reads and writes in a cache") {
  const Program program = build_program(growing_graph(), 64);
  const auto sizes = [&](std::int64_t cache_bytes) { return sub_batches(program, 2, cache_bytes); };
  using Sizes = std::vector<std::int64_t>;
  CHECK(sizes(64 * 64 * 2) == Sizes{});           // all of it fits
  CHECK(sizes(64 * 64 * 2 - 1) == Sizes{32});     // 63 samples fit
  CHECK(sizes(64 * 2 * 16) == Sizes{16, 32});     // 16 samples fit
  CHECK(sizes(64 * 2 * 16 - 1) == Sizes{8, 16});  // 15 samples fit
  CHECK(sizes(64 * 2) == Sizes{8, 16});           // one does
  CHECK(sizes(1) == Sizes{8, 16});
  const Program odd = build_program(growing_graph(), 24);
  CHECK(sub_batches(odd, 2, 1) == Sizes{8});  // 16 does not divide 24
  const Program few = build_program(growing_graph(), 8);
  CHECK(sub_batches(few, 2, 1) == Sizes{});
}

}  // namespace winnow
