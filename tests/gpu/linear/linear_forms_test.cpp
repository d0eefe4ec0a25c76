// What of linear stacks is decided without a GPU.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "runtime/gpu/linear/deployed_layer.h"
#include "runtime/gpu/linear/linear_stack_forms.h"
#include "tests/gpu/random_values.h"

namespace winnow {

namespace {

// Those of an H200.
constexpr StackDevice kDevice{.sms = 132, .shared_bytes = 227 * 1024, .has_clusters = true};

using Names = std::vector<std::string>;

Names forms(Precision precision, std::int64_t features, std::int64_t images,
            const StackDevice& device = kDevice) {
  Names names;
  const StackWidths widest{features, features};
  for (const LinearStackForm& form : linear_stack_forms(precision, widest, images, device)) {
    names.push_back(to_string(form));
  }
  return names;
}

}  // namespace

TEST_CASE("a stack's forms have a tile for every SM, or all images that fit") {
  CHECK(forms(Precision::f32, 1024, 528) == Names{"f32 tile=4"});
  CHECK(forms(Precision::f32, 1024, 529) == Names{"f32 tile=4", "f32 tile=8"});
  CHECK(forms(Precision::f32, 1024, 60000) == Names{"f32 tile=4", "f32 tile=8", "f32 tile=16"});
  CHECK(forms(Precision::f16, 1024, 60000) == Names{"f32 tile=4", "f16 tile=8", "f16 tile=16"});
  CHECK(forms(Precision::f32, 3000, 60000) == Names{"f32 tile=4", "f32 tile=8"});
  CHECK(forms(Precision::f32, 7232, 500) == Names{"f32 tile=4"});
  CHECK(forms(Precision::f32, 7233, 9).empty());
  CHECK(most_stack_features(kDevice.shared_bytes) == 7232);
  CHECK(most_stack_features(512) == 0);
}

TEST_CASE("few images get clusters as far as there are SMs and outputs for them") {
  const std::string one = "f32 tile=4", two = one + " blocks=2", four = one + " blocks=4",
                    eight = one + " blocks=8";
  CHECK(forms(Precision::f32, 1024, 1) == Names{four, eight});
  CHECK(forms(Precision::f16, 4096, 64) == Names{four, eight});
  CHECK(forms(Precision::f32, 1024, 128) == Names{two, four});
  CHECK(forms(Precision::f32, 512, 1) == Names{two, four});
  CHECK(forms(Precision::f32, 511, 1) == Names{one});
  CHECK(linear_stack_forms(Precision::f32, {4000, 100}, 1, kDevice).size() == 1);
  // A layer within with fewer outputs than blocks have slices.
  CHECK(fewest_outputs(1) == 1);
  CHECK(fewest_outputs(8) == 225);
  CHECK(linear_stack_forms(Precision::f32, {1024, 1024, 224}, 1, kDevice).back().blocks == 4);
  CHECK(linear_stack_forms(Precision::f32, {1024, 1024, 32}, 1, kDevice).back().blocks == 1);
  StackDevice old = kDevice;
  old.has_clusters = false;
  CHECK(forms(Precision::f32, 1024, 1, old) == Names{one});
}

TEST_CASE("sparse_layer holds the weight without pads and zeros") {
  RandomValues random(64);
  for (const int vector : {1, 8, 16}) {
    for (const double density : {0.0, 0.3, 1.0}) {
      const CsrWeight weight = random.weight(21, 34, vector, density);
      const std::vector<float> bias = random.reals(21);
      const SparseLayer layer = sparse_layer(block_csr(weight), bias);
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
