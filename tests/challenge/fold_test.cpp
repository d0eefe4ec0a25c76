#include "runtime/challenge/fold.h"

#include <doctest/doctest.h>

#include "tests/challenge/random_network.h"

namespace winnow::challenge {

TEST_CASE("equal outputs become one, and what reads them reads it with the sum of the weights") {
  // Outputs 0 and 2 of the first layer are equal, output 1 has another bias, output 3 another
  // weight. In the second layer, outputs 0 and 1 differ until the first is folded.
  const SparseLayer first{.inputs = 2,
                          .row_begin = {0, 2, 4, 6, 8},
                          .input = {0, 1, 0, 1, 0, 1, 0, 1},
                          .value = {1, 2, 1, 2, 1, 2, 1, 3},
                          .bias = {0, 1, 0, 0}};
  const SparseLayer second{.inputs = 4,
                           .row_begin = {0, 2, 4, 5},
                           .input = {0, 3, 2, 3, 1},
                           .value = {5, 6, 5, 6, 7},
                           .bias = {0, 0, 0}};
  const SparseLayer third{.inputs = 3,
                          .row_begin = {0, 3},
                          .input = {0, 1, 2},
                          .value = {0.5f, 0.25f, 1},
                          .bias = {-1}};
  const FoldedNetwork folded = fold_equal_outputs(MemoryNetwork("net", {first, second, third}));
  CHECK(folded.outputs == 8);
  CHECK(folded.kept_outputs == 6);
  CHECK(folded.network.layer(1) == SparseLayer{.inputs = 3,
                                               .row_begin = {0, 2, 3},
                                               .input = {0, 2, 1},
                                               .value = {5, 6, 7},
                                               .bias = {0, 0}});
  CHECK(folded.network.layer(2) ==
        SparseLayer{
            .inputs = 2, .row_begin = {0, 2}, .input = {0, 1}, .value = {0.75f, 1}, .bias = {-1}});
}

TEST_CASE("a folded network has the categories of the whole one") {
  const MemoryNetwork network = random_network({.widths = {3, 200, 200, 40, 30}, .seed = 4});
  const FoldedNetwork folded = fold_equal_outputs(network);
  CHECK(folded.kept_outputs < folded.outputs);
  CHECK(folded.network.connections() < network.connections());
  const SparseImages images = random_images(3, 50, 5);
  const ExpectedResult expected = expected_result(network, images);
  const ExpectedResult found = expected_result(folded.network, images);
  CHECK(found.categories == expected.categories);
  CHECK(found.live == expected.live);
  CHECK(expected.categories.size() > 5);
}

TEST_CASE("a network without equal outputs stays as it is") {
  const MemoryNetwork network(
      "net",
      {{.inputs = 2, .row_begin = {0, 1, 2}, .input = {0, 1}, .value = {1, 1}, .bias = {0, 0}}});
  const FoldedNetwork folded = fold_equal_outputs(network);
  CHECK(folded.kept_outputs == 2);
  CHECK(folded.network.layer(0) == network.layer(0));
}

}  // namespace winnow::challenge
