#include "runtime/model/checked_values.h"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "runtime/base/half.h"
#include "runtime/model/safetensors.h"
#include "tests/model/graphs.h"
#include "tests/temporary_directory.h"
#include "tests/throws.h"

namespace winnow {
namespace {

Tensor floats(const std::vector<float>& values) {
  return Tensor::from<float>({static_cast<std::int64_t>(values.size())}, values);
}

std::string defect(const Tensor& tensor) {
  return message_of([&] { require_finite(tensor, "fc.bias", "a.safetensors"); });
}

TEST_CASE("require_finite names file, tensor, element and what it is") {
  CHECK(defect(floats({1, -2, 3e38f})) == "");
  CHECK(defect(floats({1, -2, NAN})) ==
        "a.safetensors: tensor 'fc.bias': element 2 is nan, expected a finite number");
  CHECK(defect(floats({-INFINITY, 0})) ==
        "a.safetensors: tensor 'fc.bias': element 0 is -inf, expected a finite number");
  const std::vector<Half> halves = {to_half(1), Half{0x7c00}};
  CHECK(defect(Tensor::from<Half>({2}, halves)) ==
        "a.safetensors: tensor 'fc.bias': element 1 is inf, expected a finite number");
  CHECK(defect(Tensor::from<std::int8_t>({1}, std::vector<std::int8_t>{3})) == "");
}

TEST_CASE("require_half_range takes 65504 and nothing beyond") {
  const auto check = [](const std::vector<float>& values) {
    return message_of([&] { require_half_range(values, "w", "f", "use 32b"); });
  };
  CHECK(check({65504, -65504, 0}) == "");
  CHECK(check({1, -65505}) ==
        "f: tensor 'w': element 1 is -65505, expected at most 65504 in magnitude, the largest "
        "number of fp16; use 32b");
  CHECK(check({NAN}).find("element 0 is nan") != std::string::npos);
}

// fc [2, 3] and a batch norm behind it.
Model plain_model() {
  Model model;
  model.graph = graph_of({3}, {{"fc", Linear{3, 2, true}, {}}, {"norm", BatchNorm{2}, {}}});
  for (const Node& node : model.graph.nodes) {
    for (const Parameter& parameter : parameters_of(node)) {
      Tensor tensor(DataType::f32, parameter.shape);
      for (float& value : tensor.values<float>()) value = 0.5f;
      model.tensors[parameter.name] = std::move(tensor);
    }
  }
  return model;
}

TEST_CASE("a checkpoint with a number that is none is neither read nor written") {
  const TemporaryDirectory directory;
  const std::string path = directory / "m.safetensors";
  const Model good = plain_model();
  for (const auto& [name, tensor] : good.tensors) {
    CAPTURE(name);
    save_model(path, good);
    SafetensorsFile file = read_safetensors(path);
    file.tensors.at(name).values<float>()[1] = NAN;
    write_safetensors(path, file);
    const auto load = [&] { load_model(path); };
    CHECK(error_of(load) == ErrorCode::bad_file);
    CHECK(message_of(load) ==
          path + ": tensor '" + name + "': element 1 is nan, expected a finite number");

    Model bad = good;
    bad.tensors.at(name).values<float>()[0] = INFINITY;
    CHECK(error_of([&] { save_model(path, bad); }) == ErrorCode::bad_file);
  }
}

}  // namespace
}  // namespace winnow
