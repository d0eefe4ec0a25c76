#include "export/torch_weights.h"

#include <doctest/doctest.h>

#include "import/weights_import.h"
#include "runtime/model/architectures.h"
#include "runtime/model/fold_batch_norm.h"
#include "tests/model/graphs.h"
#include "tests/quantize/random_networks.h"
#include "tests/throws.h"

namespace winnow {
namespace {

Model random_architecture(const std::string& name, const Shape& input) {
  return random_network(build_architecture(name, {input, 10}), 4);
}

}  // namespace

TEST_CASE("names are those of the nodes, weights dense, batch norms as in the checkpoint") {
  Model model = random_architecture("lenet5", {1, 28, 28});
  prune_node(model, "fc1", 8, 0.2, 3);
  const SafetensorsFile file = torch_weights(model, "m");
  CHECK(file.tensors.at("conv1.weight") == model.tensors.at("conv1.weight"));
  CHECK(file.tensors.at("fc1.weight") == model.tensors.at("fc1.weight"));
  CHECK(file.tensors.at("bn1.running_var") == model.tensors.at("bn1.running_var"));
  CHECK(file.tensors.at("bn1.num_batches_tracked") == Tensor(DataType::i64, {}));
  CHECK(!file.tensors.contains("fc1.weight.mask"));
  CHECK(!file.tensors.contains("conv1.bias"));
  CHECK(file.tensors.size() == 2 * (1 + 5) + 3 * 2);
  CHECK(file.metadata.at("format") == "pt");
}

TEST_CASE("codes are decoded") {
  Model model = random_network(graph_of({2}, {{"fc", Linear{2, 2, false}, {}}}), 1);
  model.tensors.erase("fc.weight");
  model.tensors["fc.weight.codes"] =
      Tensor::from<std::int8_t>({2, 2}, std::vector<std::int8_t>{1, -2, 0, 3});
  model.tensors["fc.weight.scale"] = Tensor::from<float>({1}, std::vector<float>{0.5F});
  const SafetensorsFile file = torch_weights(model, "m");
  CHECK(file.tensors.at("fc.weight") ==
        Tensor::from<float>({2, 2}, std::vector<float>{0.5F, -1, 0, 1.5F}));
  CHECK(file.tensors.size() == 1);
}

TEST_CASE("vgg16 has torchvision's numbers, and a bias in every convolution") {
  const Model model = random_architecture("vgg16", {3, 32, 32});
  const SafetensorsFile file = torch_weights(model, "m");
  CHECK(file.tensors.at("features.0.weight") == model.tensors.at("conv1_1.weight"));
  CHECK(file.tensors.at("features.0.bias") == Tensor(DataType::f32, {64}));
  CHECK(file.tensors.at("features.1.running_mean") == model.tensors.at("bn1_1.running_mean"));
  CHECK(file.tensors.at("features.40.weight") == model.tensors.at("conv5_3.weight"));
  CHECK(file.tensors.at("classifier.bias") == model.tensors.at("fc.bias"));
  CHECK(file.tensors.size() == 13 * 2 + 13 * 5 + 2);
}

TEST_CASE("import takes back what export wrote, for every built-in network") {
  for (const std::string& name : architecture_names()) {
    CAPTURE(name);
    const Shape input = options_for(name).input;
    const Model model = random_network(build_architecture(name, options_for(name)), 4);
    const SafetensorsFile file = torch_weights(model, "m");
    NameMap names;
    Graph graph = graph_for_weights(name, input, file, names);
    const Model back = import_weights(std::move(graph), file, names, false, "m").model;
    for (const auto& [parameter, tensor] : model.tensors) {
      CAPTURE(parameter);
      REQUIRE(back.tensors.contains(parameter));
      CHECK(back.tensors.at(parameter) == tensor);
    }
  }
}

TEST_CASE("a built-in network whose batch norms are folded gets a notice, vgg16 none") {
  const Model resnet = random_architecture("resnet18", {3, 32, 32});
  CHECK(torch_weights_notice(resnet) == "");
  CHECK(torch_weights_notice(fold_batch_norm(resnet)) ==
        "the batch norms of resnet18 are folded: a class of PyTorch that has them takes the "
        "weights of pruned.safetensors");
  const Model vgg = fold_batch_norm(random_architecture("vgg16", {3, 32, 32}));
  CHECK(torch_weights_notice(vgg) == "");
  CHECK(torch_weights(vgg, "m").tensors.contains("features.28.bias"));
  CHECK(torch_weights_notice(random_network(graph_of({2}, {{"fc", Linear{2, 2}, {}}}), 1)) == "");
}

TEST_CASE("a damaged checkpoint is refused") {
  Model model = random_architecture("lenet5", {1, 28, 28});
  model.tensors.erase("fc2.bias");
  CHECK(error_of([&] { torch_weights(model, "m"); }) == ErrorCode::bad_file);
  CHECK(message_of([&] { torch_weights(model, "m"); }).starts_with("m: "));
}

}  // namespace winnow
