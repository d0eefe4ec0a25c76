#include "runtime/plan/timing_table.h"

#include <doctest/doctest.h>

#include <array>

namespace winnow {
namespace {

TEST_CASE("a time is measured once for each key") {
  TimingTable table;
  int measurements = 0;
  const auto measure = [&] { return static_cast<double>(++measurements); };
  CHECK(table.get("a", measure) == 1);
  CHECK(table.get("b", measure) == 2);
  CHECK(table.get("a", measure) == 1);
}

TEST_CASE("a step's key tells op, sizes, relu and weights") {
  DeployedModel model;
  model.weights.emplace("fc.weight", DenseWeight{{1, 2}, encode_f32(std::array{1.f, 2.f})});
  Program program;
  program.values = {{"input", {3, 2}}, {"fc", {3, 1}}};
  Step step{"fc", Linear{.in_features = 2, .out_features = 1}, {0}, 1, false, "fc.weight", ""};
  const std::string key = step_key(model, program, step);
  CHECK(key.starts_with("linear [3, 2] -> [3, 1] crc "));
  step.has_relu = true;
  CHECK(step_key(model, program, step) != key);
  step.has_relu = false;
  model.weights.at("fc.weight") = DenseWeight{{1, 2}, encode_f32(std::array{1.f, 3.f})};
  CHECK(step_key(model, program, step) != key);
}

}  // namespace
}  // namespace winnow
