#include "runtime/plan/step_weights.h"

#include <doctest/doctest.h>

#include <array>

namespace winnow {
namespace {

DeployedModel model_of(Weight weight) {
  DeployedModel model;
  model.weights.emplace("fc.weight", std::move(weight));
  return model;
}

Step step_named(const char* name) {
  return {name,
          Linear{.in_features = 2, .out_features = 2},
          {0},
          1,
          false,
          std::string(name) + ".weight",
          std::string(name) + ".bias"};
}

TEST_CASE("a step's weight is found by its handle; what is not there is null") {
  const DeployedModel model =
      model_of(DenseWeight{{2, 2}, encode_f32(std::array{1.f, 0.f, 2.f, 3.f})});
  const StepWeights found = weights_of(model, step_named("fc"));
  CHECK(found.weight == &model.weights.at("fc.weight"));
  CHECK(found.bias == nullptr);
  CHECK(found.sparse() == nullptr);
  CHECK(dense_floats(found.weight) == std::vector<float>{1, 0, 2, 3});
  CHECK(dense_floats(found.bias).empty());
  CHECK(weights_of(model, step_named("other")).weight == nullptr);
}

TEST_CASE("sparse weights have their zeros as floats too") {
  const std::array<std::uint8_t, 4> mask = {0, 1, 1, 0};
  CsrPattern pattern = build_csr_pattern(mask, 2, 2, 1);
  const DeployedModel model =
      model_of(csr_weight(std::move(pattern), encode_f32(std::array{5.f, 7.f})));
  const StepWeights found = weights_of(model, step_named("fc"));
  CHECK(found.sparse() != nullptr);
  CHECK(dense_floats(found.weight) == std::vector<float>{0, 5, 7, 0});
}

}  // namespace
}  // namespace winnow
