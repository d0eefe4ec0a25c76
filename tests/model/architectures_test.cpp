#include "runtime/model/architectures.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/model/graphs.h"
#include "tests/throws.h"

namespace winnow {
namespace {

std::int64_t parameter_count(const Graph& graph, const std::string& kind) {
  std::int64_t count = 0;
  for (const Node& node : graph.nodes) {
    if (op_name(node.op) != kind) continue;
    for (const Parameter& parameter : parameters_of(node)) count += element_count(parameter.shape);
  }
  return count;
}

std::int64_t count_of(const Graph& graph, const std::string& kind) {
  return std::count_if(graph.nodes.begin(), graph.nodes.end(),
                       [&](const Node& node) { return op_name(node.op) == kind; });
}

Shape shape_of(const Graph& graph, const std::string& name) {
  return infer_shapes(graph, 2)[node_index(graph, name)];
}

}  // namespace

TEST_CASE("lenet5 has the layers of its paper with the shapes of 28 pixels") {
  const Graph graph = lenet5({{1, 28, 28}, 10});
  CHECK(shape_of(graph, "conv1") == Shape{2, 6, 28, 28});
  CHECK(shape_of(graph, "pool1") == Shape{2, 6, 14, 14});
  CHECK(shape_of(graph, "conv2") == Shape{2, 16, 10, 10});
  CHECK(shape_of(graph, "flatten") == Shape{2, 400});
  CHECK(shape_of(graph, "fc1") == Shape{2, 120});
  CHECK(shape_of(graph, "fc3") == Shape{2, 10});
  CHECK(parameter_count(graph, "conv2d") == 6 * 25 + 16 * 6 * 25);
  CHECK(parameter_count(graph, "linear") == 120 * 401 + 84 * 121 + 10 * 85);
  CHECK(count_of(graph, "dropout") == 0);
}

TEST_CASE("lenet5 takes colour and larger images") {
  CHECK(infer_shapes(lenet5({{3, 32, 40}, 100}), 4).back() == Shape{4, 100});
}

TEST_CASE("vgg16 for CIFAR has 13 convolutions and one linear layer on 512 features") {
  const Graph graph = vgg16({{3, 32, 32}, 10});
  CHECK(count_of(graph, "conv2d") == 13);
  CHECK(count_of(graph, "batch_norm") == 13);
  CHECK(count_of(graph, "max_pool") == 5);
  CHECK(count_of(graph, "linear") == 1);
  CHECK(shape_of(graph, "relu1_1") == Shape{2, 64, 32, 32});
  CHECK(shape_of(graph, "bn3_3") == Shape{2, 256, 8, 8});
  CHECK(shape_of(graph, "pool5") == Shape{2, 512, 1, 1});
  CHECK(shape_of(graph, "fc") == Shape{2, 10});
  CHECK(parameter_count(graph, "conv2d") == 14'710'464);  // the known 14.7 million, biases aside
  CHECK(shape_of(vgg16({{3, 63, 63}, 10}), "flatten") == Shape{2, 512});
}

TEST_CASE("vgg16 for ImageNet has the classifier of its paper") {
  const Graph graph = vgg16({{3, 224, 224}, 1000, 0.5});
  CHECK(shape_of(graph, "pool5") == Shape{2, 512, 7, 7});
  CHECK(shape_of(graph, "fc6") == Shape{2, 4096});
  CHECK(shape_of(graph, "fc8") == Shape{2, 1000});
  // 138,357,544 parameters without batch norm (torchvision's vgg16), less 4,224 conv biases
  CHECK(parameter_count(graph, "conv2d") + parameter_count(graph, "linear") == 138'357'544 - 4'224);
}

TEST_CASE("dropout stands before each linear layer but the first") {
  const Graph graph = lenet5({{1, 28, 28}, 10, 0.4});
  CHECK(count_of(graph, "dropout") == 2);
  CHECK(graph.nodes[node_index(graph, "fc2") - 1].op == Op{Dropout{0.4}});
  CHECK(graph.nodes[node_index(graph, "fc3") - 1].op == Op{Dropout{0.4}});
  CHECK(count_of(vgg16({{3, 32, 32}, 10, 0.4}), "dropout") == 0);
  CHECK(error_of([] { lenet5({{1, 28, 28}, 10, -0.5}); }) == ErrorCode::usage);
  CHECK(error_of([] { lenet5({{1, 28, 28}, 10, 1.5}); }) == ErrorCode::usage);
}

TEST_CASE("inputs that are too small or no images are refused") {
  CHECK(message_of([] {
          lenet5({{1, 27, 28}, 10});
        }) == "lenet5: input [1, 27, 28], expected [C, H, W] with H and W of at least 28");
  CHECK(error_of([] { vgg16({{3, 28, 28}, 10}); }) == ErrorCode::usage);
  CHECK(error_of([] { vgg16({{32, 32}, 10}); }) == ErrorCode::usage);
  CHECK(error_of([] { vgg16({{0, 32, 32}, 10}); }) == ErrorCode::usage);
  CHECK(message_of([] { lenet5({{1, 28, 28}, 0}); }) == "lenet5: 0 classes, expected at least 1");
}

TEST_CASE("textcnn is the CNN-non-static of Kim 2014") {
  const Graph graph = textcnn({{56}, 2, 0.5, Stem::imagenet, 18'000, 300});
  CHECK(infer_shapes(graph, 1).back() == Shape{1, 2});
  CHECK(infer_shapes(graph, 3)[node_index(graph, "conv5")] == Shape{3, 100, 60});
  CHECK(infer_shapes(graph, 3)[node_index(graph, "concat")] == Shape{3, 300});
  CHECK(std::holds_alternative<Dropout>(graph.nodes[node_index(graph, "dropout")].op));
  std::int64_t parameters = 0;
  for (const Node& node : graph.nodes) {
    for (const Parameter& parameter : parameters_of(node)) {
      parameters += element_count(parameter.shape);
    }
  }
  CHECK(parameters == 18'000 * 300 + (3 + 4 + 5) * 300 * 100 + 3 * 100 + 300 * 2 + 2);
  CHECK(textcnn({{1}, 2, 0.0, Stem::imagenet, 3, 1}).nodes.size() == graph.nodes.size() - 1);
  CHECK(message_of([] {
          textcnn({{3, 32, 32}, 2});
        }) == "textcnn: input [3, 32, 32], expected sentences: [L] tokens (data.format: text)");
  CHECK(error_of([] { textcnn({{56}, 0, 0.0, Stem::imagenet, 9, 1}); }) == ErrorCode::usage);
}

TEST_CASE("architectures are found by name, with a suggestion for others") {
  for (const std::string& name : architecture_names()) {
    CHECK(build_architecture(name, options_for(name)).name == name);
  }
  CHECK(error_of([] { build_architecture("vgg-16", {{3, 32, 32}, 10}); }) == ErrorCode::usage);
  CHECK(message_of([] {
          build_architecture("vgg-16", {{3, 32, 32}, 10});
        }) == "architecture 'vgg-16' is unknown; did you mean 'vgg16'?");
}

TEST_CASE("a stem for small pictures keeps their size") {
  for (const char* name : {"resnet18", "resnet50", "densenet121"}) {
    const Graph small = build_architecture(name, {.input = {3, 32, 32}, .stem = Stem::automatic});
    const Graph asked = build_architecture(name, {.input = {3, 96, 96}, .stem = Stem::cifar});
    const Graph large = build_architecture(name, {.input = {3, 64, 64}, .stem = Stem::automatic});
    const Conv& first = std::get<Conv>(small.nodes[1].op);
    CHECK(
        (first.kernel == Pair{3, 3} && first.stride == Pair{1, 1} && first.padding == Pair{1, 1}));
    CHECK(infer_shapes(small, 1)[3] == Shape{1, 64, 32, 32});
    CHECK(infer_shapes(asked, 1)[3] == Shape{1, 64, 96, 96});
    CHECK(std::get<Conv>(large.nodes[1].op).kernel == Pair{7, 7});
    CHECK(large.nodes.size() == small.nodes.size() + 1);  // the pool
  }
  CHECK(has_stem("resnet18"));
  CHECK_FALSE(has_stem("vgg16"));
}

TEST_CASE("residual and dense networks have as many parameters as those of their papers") {
  const auto count = [](const std::string& name) {
    const Graph graph = build_architecture(name, {{3, 224, 224}, 1000});
    CHECK(infer_shapes(graph, 1).back() == Shape{1, 1000});
    // A batch norm's statistics are no parameters that are trained.
    return parameter_count(graph, "conv2d") + parameter_count(graph, "linear") +
           parameter_count(graph, "batch_norm") / 2;
  };
  CHECK(count("resnet18") == 11'689'512);
  CHECK(count("resnet50") == 25'557'032);
  CHECK(count("densenet121") == 7'978'856);
  CHECK(count("densenet161") == 28'681'000);
}

}  // namespace winnow
