#include "tests/gpu/session/session_models.h"

#include <cmath>
#include <string>
#include <variant>

#include "tests/model/graphs.h"

namespace winnow {
namespace {

constexpr double kDensity = 0.3;

// Keeps values about as large from layer to layer. Logits that grew to a hundred would make a
// softmax of one rounding's width.
float scale_of(const Shape& weight, double density) {
  const auto inputs = static_cast<double>(element_count(weight) / weight[0]);
  return static_cast<float>(std::exp2(std::round(-std::log2(inputs * density / 3.0) / 2.0)));
}

}  // namespace

DeployedModel model_of(const Graph& graph, int vector, std::uint64_t seed) {
  RandomValues random(seed);
  DeployedModel model;
  model.graph = graph;
  bool is_first = true;
  for (const Node& node : graph.nodes) {
    for (const Parameter& parameter : parameters_of(node)) {
      const bool is_weight = parameter.name.ends_with(".weight");
      const bool is_table = std::holds_alternative<Embedding>(node.op);
      const bool is_dense = is_table || is_first;
      random.scale =
          is_weight && !is_table ? scale_of(parameter.shape, is_dense ? 1.0 : kDensity) : 1.0f;
      if (is_weight && !is_dense) {
        const std::int64_t channels = parameter.shape[0];
        model.weights[parameter.name] =
            random.weight(channels, element_count(parameter.shape) / channels, vector, kDensity);
        continue;
      }
      if (is_weight && !is_table) is_first = false;
      model.weights[parameter.name] =
          DenseWeight{parameter.shape, encode_f32(random.array(parameter.shape).values)};
    }
  }
  return model;
}

Conv strided(Conv op, std::int64_t stride, std::int64_t groups) {
  op.stride = {stride, stride};
  op.groups = groups;
  return op;
}

Graph chain_graph() {
  return graph_of({3, 13, 11}, {{"conv1", conv(3, 16, 3, 1), {}},
                                {"relu1", Relu{}, {}},
                                {"pool1", Pool{}, {}},
                                {"conv2", strided(conv(16, 24, 3, 1), 1, 2), {}},
                                {"relu2", Relu{}, {}},
                                {"conv3", strided(conv(24, 33, 5, 2), 2, 1), {}},
                                {"pool3", Pool{PoolKind::average, 2, {2, 2}, {1, 1}, {1, 1}}, {}},
                                {"relu3", Relu{}, {}},
                                {"conv4", conv(33, 16, 1), {}},
                                {"flat", Flatten{}, {}},
                                {"fc1", Linear{16 * 4 * 4, 20, true}, {}},
                                {"relu4", Relu{}, {}},
                                {"fc2", Linear{20, 10, true}, {}},
                                {"out", Softmax{}, {}}});
}

Graph text_graph() {
  return graph_of({9},
                  {{"table", Embedding{50, 8}, {}},
                   {"conv2", conv1d(8, 16, 2), {"table"}},
                   {"relu2", Relu{}, {}},
                   {"max2", GlobalPool{PoolKind::max}, {}},
                   {"conv3", conv1d(8, 16, 3), {"table"}},
                   {"relu3", Relu{}, {}},
                   {"max3", GlobalPool{PoolKind::max}, {}},
                   {"both", Concat{}, {"max2", "max3"}},
                   {"fc", Linear{32, 2, true}, {}}},
                  true);
}

std::vector<float> input_for(const Graph& graph, std::int64_t batch, RandomValues& random) {
  const auto& input = std::get<Input>(graph.nodes.front().op);
  std::vector<float> values =
      random.reals(static_cast<std::size_t>(batch * element_count(input.shape)));
  if (!input.is_tokens) return values;
  for (float& value : values) value = static_cast<float>(random.below(50));
  return values;
}

}  // namespace winnow
