#include <doctest/doctest.h>

#include <functional>

#include "runtime/model/model.h"
#include "tests/model/sample_models.h"
#include "tests/throws.h"

namespace winnow {
namespace {

bool refuses(const std::string& part, const std::function<void(DeployedModel&)>& damage) {
  DeployedModel model = golden_model();
  damage(model);
  const auto check = [&] { check_deployed_model(model, "here"); };
  CHECK(error_of(check) == ErrorCode::bad_file);
  const std::string message = message_of(check);
  INFO(message);
  return message.starts_with("here: ") && message.find(part) != std::string::npos;
}

DenseWeight& dense(DeployedModel& model, const std::string& name) {
  return std::get<DenseWeight>(model.weights.at(name));
}

TEST_CASE("deployed models of every form pass their check") {
  CHECK_NOTHROW(check_deployed_model(golden_model(), "here"));
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    CHECK_NOTHROW(check_deployed_model(random_deployed_model(seed), "here"));
  }
}

TEST_CASE("weights that do not fit the graph are refused") {
  CHECK(refuses("weight 'fc.bias': is missing", [](auto& m) { m.weights.erase("fc.bias"); }));
  CHECK(refuses("weight 'cf.bias' belongs to no node",
                [](auto& m) { m.weights["cf.bias"] = m.weights.at("fc.bias"); }));
  CHECK(refuses("shape is [2, 4, 2], expected [2, 8]", [](auto& m) {
    dense(m, "fc.weight").shape = {2, 4, 2};
  }));
  CHECK(refuses("a bias must be f32, found f16", [](auto& m) {
    dense(m, "fc.bias").values = encode_f16(std::vector{1.0f, 2.0f});
  }));
  CHECK(refuses("'conv.bias': is sparse, expected dense",
                [](auto& m) { m.weights["conv.bias"] = m.weights.at("conv.weight"); }));
  CHECK(refuses("'fc.weight': size is [2, 4], expected [2, 8]",
                [](auto& m) { m.weights["fc.weight"] = m.weights.at("conv.weight"); }));
  CHECK(refuses("3 values, expected 2", [](auto& m) {
    dense(m, "fc.bias").values = encode_f32(std::vector{1.0f, 2.0f, 3.0f});
  }));
  CHECK(refuses("column",
                [](auto& m) { std::get<CsrWeight>(m.weights.at("conv.weight")).column[0] = 9; }));
}

TEST_CASE("batch norm and dropout have no place in a deployed model") {
  CHECK(refuses("node 'relu': dropout has no place",
                [](auto& m) { m.graph.nodes[2].op = Dropout{}; }));
  CHECK(refuses("node 'relu': batch_norm has no place",
                [](auto& m) { m.graph.nodes[2].op = BatchNorm{2}; }));
}

TEST_CASE("a graph whose shapes do not meet is refused") {
  CHECK(refuses("fc", [](auto& m) { m.graph.nodes.back().op = Linear{9, 2, true}; }));
}

TEST_CASE("dense_floats gives all weights, zeros included") {
  const DeployedModel model = golden_model();
  CHECK(dense_floats(model.weights.at("fc.bias")) == std::vector{1.0f, 2.0f});
  CHECK(dense_floats(model.weights.at("fc.weight"))[0] == -0.25f);
  CHECK(dense_floats(model.weights.at("conv.weight")) ==
        std::vector{0.5f, 0.0f, 0.0f, -1.0f, 0.0f, 2.0f, 0.0f, 0.0f});
}

}  // namespace
}  // namespace winnow
