#include "runtime/model/channel_classes.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "runtime/model/architectures.h"
#include "tests/model/graphs.h"

namespace winnow {
namespace {

// "conv.3" for channel 3 of node conv.
std::set<std::string> named(const Graph& graph, const std::vector<ChannelUse>& uses) {
  std::set<std::string> names;
  for (const ChannelUse& use : uses) {
    names.insert(graph.nodes[use.node].name + "." + std::to_string(use.index));
  }
  return names;
}

using Names = std::set<std::string>;

// The class that has this output of a layer.
ChannelClass class_of(const Graph& graph, const std::string& node, std::int64_t channel) {
  const ChannelUse wanted{node_index(graph, node), channel};
  for (const ChannelClass& one : channel_classes(graph)) {
    const auto& all = one.producers;
    if (std::find(all.begin(), all.end(), wanted) != all.end()) return one;
  }
  return {};
}

TEST_CASE("channels go through a chain, and become features behind a flatten") {
  const Graph graph = graph_of({2, 4, 4}, {{"a", conv(2, 3, 3, 1), {}},
                                           {"norm", BatchNorm{3}, {}},
                                           {"relu", Relu{}, {}},
                                           {"pool", Pool{}, {}},
                                           {"flat", Flatten{}, {}},
                                           {"fc", Linear{12, 5, true}, {}}});
  const auto classes = channel_classes(graph);
  REQUIRE(classes.size() == 2 + 3 + 5);
  CHECK(classes[0].is_fixed);  // the input's
  CHECK(named(graph, classes[0].readers) == Names{"a.0"});
  const ChannelClass middle = class_of(graph, "a", 1);
  CHECK_FALSE(middle.is_fixed);
  CHECK(named(graph, middle.passing) == Names{"norm.1"});
  CHECK(named(graph, middle.readers) == Names{"fc.4", "fc.5", "fc.6", "fc.7"});
  CHECK(class_of(graph, "fc", 4).is_fixed);  // the network's output
}

TEST_CASE("an add makes one channel of those that it sums, a concat moves them") {
  const Graph graph = graph_of({4, 6, 6}, {{"a", conv(4, 2, 3, 1), {"input"}},
                                           {"b", conv(4, 3, 3, 1), {"input"}},
                                           {"both", Concat{}, {"a", "b"}},
                                           {"norm", BatchNorm{5}, {"both"}},
                                           {"c", conv(5, 5, 3, 1), {"norm"}},
                                           {"sum", Add{}, {"both", "c"}},
                                           {"d", conv(5, 1, 1), {"sum"}}});
  const ChannelClass one = class_of(graph, "b", 1);
  CHECK(named(graph, one.producers) == Names{"b.1", "c.3"});
  CHECK(named(graph, one.passing) == Names{"norm.3"});
  CHECK(named(graph, one.readers) == Names{"c.3", "d.3"});
  CHECK(class_of(graph, "c", 1) == class_of(graph, "a", 1));
}

TEST_CASE("what meets the input, or a grouped convolution, cannot be left out") {
  Conv grouped = conv(4, 4, 3, 1);
  grouped.groups = 2;
  Conv depthwise = grouped;
  depthwise.groups = 4;
  const Graph graph = graph_of({4, 6, 6}, {{"a", conv(4, 4, 3, 1), {}},
                                           {"sum", Add{}, {"a", "input"}},
                                           {"b", conv(4, 4, 3, 1), {}},
                                           {"deep", depthwise, {}},
                                           {"c", conv(4, 4, 1), {}},
                                           {"group", grouped, {}},
                                           {"d", conv(4, 2, 1), {}}});
  CHECK(class_of(graph, "a", 0).is_fixed);
  CHECK_FALSE(class_of(graph, "b", 0).is_fixed);
  CHECK(named(graph, class_of(graph, "b", 3).passing) == Names{"deep.3"});
  CHECK(class_of(graph, "c", 0).is_fixed);
  CHECK(class_of(graph, "group", 0).producers.empty());  // no producer: its channels stay
}

TEST_CASE("a stage of a ResNet has one set of channels") {
  const Graph graph = build_architecture("resnet18", {.input = {3, 32, 32}, .classes = 10});
  const ChannelClass stage = class_of(graph, "layer2.0.conv2", 7);
  CHECK(named(graph, stage.producers) ==
        Names{"layer2.0.conv2.7", "layer2.0.downsample.0.7", "layer2.1.conv2.7"});
  CHECK(named(graph, stage.readers) ==
        Names{"layer2.1.conv1.7", "layer3.0.conv1.7", "layer3.0.downsample.0.7"});
  CHECK(class_of(graph, "layer2.1.conv1", 0).producers.size() == 1);
}

TEST_CASE("a channel of a DenseNet is read by every layer behind it") {
  const Graph graph = build_architecture("densenet121", {.input = {3, 32, 32}, .classes = 10});
  const ChannelClass one = class_of(graph, "features.denseblock1.denselayer5.conv2", 0);
  CHECK(one.producers.size() == 1);
  CHECK(named(graph, one.readers) ==
        Names{"features.denseblock1.denselayer6.conv1.192", "features.transition1.conv.192"});
  CHECK(one.passing.size() == 2);  // the norms before them
}

TEST_CASE("every input and output of a layer is in one class") {
  for (const char* name : {"vgg16", "resnet50", "densenet121"}) {
    const Graph graph = build_architecture(name, {.input = {3, 32, 32}, .classes = 10});
    std::set<ChannelUse> outputs, inputs;
    for (const ChannelClass& one : channel_classes(graph)) {
      for (const ChannelUse& use : one.producers) CHECK(outputs.insert(use).second);
      for (const ChannelUse& use : one.readers) CHECK(inputs.insert(use).second);
    }
    std::size_t expected_outputs = 0, expected_inputs = 0;
    for (const Node& node : graph.nodes) {
      const auto* conv = std::get_if<Conv>(&node.op);
      const auto* linear = std::get_if<Linear>(&node.op);
      if (conv) {
        expected_outputs += static_cast<std::size_t>(conv->out_channels);
        expected_inputs += static_cast<std::size_t>(conv->in_channels);
      }
      if (linear) {
        expected_outputs += static_cast<std::size_t>(linear->out_features);
        expected_inputs += static_cast<std::size_t>(linear->in_features);
      }
    }
    CHECK(outputs.size() == expected_outputs);
    CHECK(inputs.size() == expected_inputs);
  }
}

}  // namespace
}  // namespace winnow
