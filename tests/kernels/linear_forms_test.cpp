// What of linear stacks is decided without a GPU.
#include <doctest/doctest.h>

#include "runtime/kernels/linear_stack.h"
#include "runtime/kernels/sparse_layers.h"
#include "tests/kernels/random_values.h"

namespace winnow {

namespace {
constexpr std::size_t kShared = 227 * 1024;  // of an H200
}  // namespace

TEST_CASE("a stack's forms have a tile for every processor, or all images that fit") {
  using Forms = std::vector<ResidentForm>;
  const auto forms = [](Precision precision, std::int64_t features, std::int64_t images) {
    return linear_stack_forms(precision, features, images, 132, kShared);
  };
  CHECK(forms(Precision::f32, 1024, 1) == Forms{{false, 4}});
  CHECK(forms(Precision::f32, 1024, 528) == Forms{{false, 4}});
  CHECK(forms(Precision::f32, 1024, 529) == Forms{{false, 4}, {false, 8}});
  CHECK(forms(Precision::f32, 1024, 60000) == Forms{{false, 4}, {false, 8}, {false, 16}});
  CHECK(forms(Precision::f16, 1024, 60000) == Forms{{false, 4}, {true, 8}, {true, 16}});
  CHECK(forms(Precision::f32, 3000, 60000) == Forms{{false, 4}, {false, 8}});
  CHECK(forms(Precision::f32, 7232, 9) == Forms{{false, 4}});
  CHECK(forms(Precision::f32, 7233, 9).empty());
  CHECK(most_stack_features(kShared) == 7232);
  CHECK(most_stack_features(512) == 0);
}

TEST_CASE("sparse_layer holds the weight without pads and zeros") {
  RandomValues random(64);
  for (const int vector : {1, 8, 16}) {
    for (const double density : {0.0, 0.3, 1.0}) {
      const CsrWeight weight = random.weight(21, 34, vector, density);
      const std::vector<float> bias = random.reals(21);
      const SparseLayer layer = sparse_layer(weight, bias);
      check_layer(layer, "layer");
      CHECK(layer.bias == bias);
      std::vector<float> dense(21 * 34, 0.0f);
      for (std::uint32_t j = 0; j < layer.outputs(); ++j) {
        for (std::uint32_t k = layer.row_begin[j]; k < layer.row_begin[j + 1]; ++k) {
          CHECK(layer.value[k] != 0);
          dense[std::size_t{j} * 34 + layer.input[k]] = layer.value[k];
        }
      }
      CHECK(dense == to_dense(weight));
    }
  }
}

}  // namespace winnow
