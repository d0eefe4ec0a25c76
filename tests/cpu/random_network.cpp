#include "tests/cpu/random_network.h"

#include <algorithm>

#include "tests/cpu/random_work.h"

namespace winnow {
namespace {

Conv conv(std::int64_t in, std::int64_t out, std::int64_t kernel) {
  Conv op;
  op.in_channels = in;
  op.out_channels = out;
  op.kernel = {kernel, kernel};
  op.padding = {kernel / 2, kernel / 2};
  return op;
}

std::vector<float> random_floats(Random& random, std::int64_t count, double density) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& x : values) {
    if (random.chance(density)) x = static_cast<float>(random.normal(0, 0.3));
  }
  return values;
}

// Weights whose blocks of `vector` channels are kept or dropped as one.
std::vector<float> masked(Random& random, const Shape& shape, int vector) {
  const std::int64_t cols = element_count(shape) / shape[0];
  std::vector<float> values = random_floats(random, element_count(shape), 1);
  for (std::int64_t row = 0; row < shape[0]; row += vector) {
    for (std::int64_t col = 0; col < cols; ++col) {
      if (random.chance(0.2)) continue;
      for (std::int64_t k = row; k < std::min(row + vector, shape[0]); ++k) {
        values[k * cols + col] = 0;
      }
    }
  }
  return values;
}

// The same blocks with codes of a codebook and a scale per channel.
CsrWeight clustered(CsrWeight weight, Random& random) {
  std::vector<std::uint8_t> codes;
  for (const float value : decode(weight.values)) {
    codes.push_back(value == 0 ? 0 : static_cast<std::uint8_t>(random.between(1, 15)));
  }
  std::vector<Half> codebook(16), scales(static_cast<std::size_t>(weight.channels));
  for (std::size_t i = 1; i < codebook.size(); ++i)
    codebook[i] = to_half(0.1f * static_cast<float>(i) - 0.75f);
  for (Half& scale : scales) scale = to_half(static_cast<float>(random.normal()));
  weight.values = with_channel_scale(encode_codebook(Encoding::codebook4, codes, codebook), scales,
                                     weight.vector);
  return weight;
}

void add_weights(DeployedModel& model, Random& random, int vector) {
  for (const Node& node : model.graph.nodes) {
    const std::vector<Parameter> parameters = parameters_of(node);
    const bool is_first = node.name == "first" || std::holds_alternative<Embedding>(node.op);
    for (const Parameter& p : parameters) {
      if (p.name.ends_with(".weight") && !is_first) {
        CsrWeight weight = csr_of(masked(random, p.shape, vector), p.shape[0], vector);
        if (node.name == "third") weight = clustered(std::move(weight), random);
        model.weights[p.name] = std::move(weight);
      } else {
        const std::vector<float> values = random_floats(random, element_count(p.shape), 1);
        model.weights[p.name] = DenseWeight{p.shape, encode_f32(values)};
      }
    }
  }
}

}  // namespace

DeployedModel image_network(Random& random, int vector) {
  DeployedModel model;
  Conv grouped = conv(48, 32, 3), strided = conv(32, 24, 5);
  grouped.groups = 2;
  strided.stride = {2, 2};
  model.graph.name = "image network";
  model.graph.nodes = {
      {"input", Input{{3, 13, 11}, false}, {}},
      {"first", conv(3, 16, 3), {"input"}},
      {"relu1", Relu{}, {"first"}},
      {"second", conv(16, 16, 3), {"relu1"}},
      {"sum", Add{}, {"second", "relu1"}},
      {"relu2", Relu{}, {"sum"}},
      {"third", conv(16, 32, 1), {"relu2"}},
      {"joined", Concat{}, {"third", "relu2"}},
      {"pool", Pool{PoolKind::max, 2, {3, 3}, {2, 2}, {1, 1}, Pair{0, 1}, true}, {"joined"}},
      {"fourth", grouped, {"pool"}},
      {"relu3", Relu{0.5}, {"fourth"}},
      {"fifth", strided, {"relu3"}},
      {"mean", Pool{PoolKind::average, 2, {2, 2}, {1, 1}, {0, 0}}, {"fifth"}},
      {"relu4", Relu{}, {"mean"}},
      {"flat", Flatten{}, {"relu4"}},
      {"head", Linear{24 * 3 * 2, 20, true}, {"flat"}},
      {"relu5", Relu{}, {"head"}},
      {"last", Linear{20, 5, true}, {"relu5"}}};
  add_weights(model, random, vector);
  return model;
}

DeployedModel pooled_network(Random& random, int vector) {
  DeployedModel model;
  model.graph.name = "pooled network";
  model.graph.nodes = {{"input", Input{{3, 23, 18}, false}, {}},
                       {"first", conv(3, 16, 3), {"input"}},
                       {"relu1", Relu{}, {"first"}},
                       {"second", conv(16, 40, 3), {"relu1"}},
                       {"relu2", Relu{}, {"second"}},
                       {"pool1", Pool{}, {"relu2"}},
                       {"third", conv(40, 24, 3), {"pool1"}},
                       {"pool2", Pool{}, {"third"}},
                       {"flat", Flatten{}, {"pool2"}},
                       {"last", Linear{24 * 5 * 4, 5, true}, {"flat"}}};
  add_weights(model, random, vector);
  return model;
}

DeployedModel text_network(Random& random) {
  DeployedModel model;
  const auto wide = [](std::int64_t width) {
    Conv op;
    op.rank = 1;
    op.in_channels = 12;
    op.out_channels = 20;
    op.kernel = {1, width};
    op.padding = {0, width - 1};
    return op;
  };
  model.graph.name = "text network";
  model.graph.nodes = {{"input", Input{{17}, true}, {}},
                       {"words", Embedding{50, 12}, {"input"}},
                       {"two", wide(2), {"words"}},
                       {"relu2", Relu{}, {"two"}},
                       {"best2", GlobalPool{PoolKind::max}, {"relu2"}},
                       {"three", wide(3), {"words"}},
                       {"relu3", Relu{}, {"three"}},
                       {"best3", GlobalPool{PoolKind::average}, {"relu3"}},
                       {"joined", Concat{}, {"best2", "best3"}},
                       {"last", Linear{40, 3, true}, {"joined"}},
                       {"probabilities", Softmax{}, {"last"}}};
  add_weights(model, random, 1);
  return model;
}

}  // namespace winnow
