#include "prune/training/masks/channel_masks.h"

#include <torch/types.h>

#include <map>

#include "export/export_model.h"
#include "prune/evolution/budget/layer_budget.h"
#include "prune/training/network/initialization.h"
#include "prune/training/network/network.h"
#include "prune/training/tensor_bridge.h"
#include "prune/training/torch_trainee.h"
#include "prune/training/trainability.h"
#include "tests/model/graphs.h"
#include "tests/quantize/random_networks.h"
#include "tests/training/images.h"
#include "tests/training/torch_doctest.h"

namespace winnow {
namespace {

// For the striped images: a residual block, a concat with a norm behind it, four classes.
Graph branched() {
  Conv plain = conv(1, 8, 3, 1);
  plain.has_bias = false;
  return graph_of({1, 8, 8}, {{"stem", plain, {"input"}},
                              {"norm1", BatchNorm{8}, {"stem"}},
                              {"relu1", Relu{}, {"norm1"}},
                              {"a", conv(8, 10, 3, 1), {"relu1"}},
                              {"norm2", BatchNorm{10}, {"a"}},
                              {"relu2", Relu{}, {"norm2"}},
                              {"b", conv(10, 8, 3, 1), {"relu2"}},
                              {"norm3", BatchNorm{8}, {"b"}},
                              {"sum", Add{}, {"norm3", "relu1"}},
                              {"relu3", Relu{}, {"sum"}},
                              {"pool", Pool{}, {"relu3"}},
                              {"c", conv(8, 6, 3, 1), {"pool"}},
                              {"both", Concat{}, {"pool", "c"}},
                              {"norm4", BatchNorm{14}, {"both"}},
                              {"relu4", Relu{}, {"norm4"}},
                              {"d", conv(14, 12, 3, 1), {"relu4"}},
                              {"relu5", Relu{}, {"d"}},
                              {"flat", Flatten{}, {"relu5"}},
                              {"fc", Linear{192, 4, true}, {"flat"}}});
}

TraineeOptions options() {
  TraineeOptions result;
  result.device = "cpu";
  result.threads = 1;
  result.seed = 5;
  result.train.batch_size = 32;
  result.vector = kWholeChannels;
  return result;
}

Stage pruning_stage() {
  return {.rate = {.decay = Decay::constant, .rate = 0.05},
          .units = 4,
          .batches_per_unit = 8,
          .is_pruning = true};
}

// Trained, with half of the channels of every unit.
struct Pruned {
  Model model = initial_model(branched(), 3);
  TorchTrainee trainee{model, striped_data(), options()};
  std::vector<Migration> moved;

  explicit Pruned(const std::vector<double>& sparsities = {0.5, 0.5, 0.5, 0.5}) {
    trainee.begin(pruning_stage());
    trainee.train_batches(0, 8);
    moved = trainee.recompute_masks(sparsities, std::vector<double>(4, 0.2));
    trainee.train_batches(8, 8);
    trainee.store(model);
  }
};

TEST_CASE("a dropped channel is 0 in every layer that has it, and so is what reads it") {
  const Pruned pruned;
  REQUIRE(pruned.trainee.layers().size() == 4);
  CHECK(pruned.moved[0].left == 4);
  CHECK(pruned.moved[0].kept == 4);
  CHECK(pruned.moved[0].kept_weights == 4 * (9 + 90));
  check_model(pruned.model, "model");
  CHECK(pruned.model.mask_vector.at("stem") == 1);

  const ChannelUnits units = channel_units(pruned.model.graph);
  const std::vector<std::uint8_t> kept = masked_channels(units, pruned.model);
  const auto values = [&](const char* name) { return to_floats(pruned.model.tensors.at(name)); };
  for (std::size_t k = 0; k < 8; ++k) {
    CAPTURE(k);
    for (const char* name : {"norm1.weight", "norm1.bias", "norm3.weight", "norm3.bias",
                             "norm4.weight", "norm4.bias", "b.bias"}) {
      if (kept[k]) continue;
      CHECK(values(name)[k] == 0.0f);
    }
    const auto stem = values("stem.weight");
    CHECK(std::all_of(stem.begin() + static_cast<std::ptrdiff_t>(9 * k),
                      stem.begin() + static_cast<std::ptrdiff_t>(9 * k + 9),
                      [](float w) { return w == 0; }) == !kept[k]);
    CHECK((values("norm1.weight")[k] != 0.0f) == (kept[k] == 1));
  }
}

TEST_CASE("export removes what was dropped: fewer channels, dense weights, the same outputs") {
  const Pruned pruned({0.5, 0.7, 0.34, 0.75});
  const ExportedModel exported = export_model(pruned.model, {});
  const Graph& graph = exported.model.graph;
  const auto conv_of = [&](const char* name) {
    return std::get<Conv>(graph.nodes[node_index(graph, name)].op);
  };
  CHECK(conv_of("stem").out_channels == 4);
  CHECK(conv_of("a").in_channels == 4);
  CHECK(conv_of("a").out_channels == 3);
  CHECK(conv_of("b").out_channels == 4);
  CHECK(conv_of("c").out_channels == 4);
  CHECK(conv_of("norm4").groups == 8);
  CHECK(conv_of("d").in_channels == 8);
  CHECK(conv_of("d").out_channels == 3);
  CHECK(std::get<Linear>(graph.nodes.back().op).in_features == 3 * 16);
  Model deployed;
  deployed.graph = graph;
  for (const auto& [name, weight] : exported.model.weights) {
    CHECK(std::holds_alternative<DenseWeight>(weight));
    const auto values = dense_floats(weight);
    for (const Node& node : graph.nodes) {
      for (const Parameter& parameter : parameters_of(node)) {
        if (parameter.name != name) continue;
        deployed.tensors[name] = Tensor::from<float>(parameter.shape, values);
      }
    }
  }

  // The masked network by LibTorch, on the samples that evaluate() draws.
  const Shape shape = infer_shapes(pruned.model.graph, 3).front();
  torch::Tensor input = torch::empty(shape);
  Random random(99);
  for (std::int64_t i = 0; i < input.numel(); ++i) {
    input.data_ptr<float>()[i] = static_cast<float>(random.normal());
  }
  Network network(pruned.model.graph, {});
  network.load(pruned.model);
  const torch::NoGradGuard no_grad;
  const Tensor output = to_host(network.forward(input, Mode::evaluation));
  CHECK(relative_difference(to_floats(output), evaluate(deployed)) < 1e-5);
}

TEST_CASE("the trainee counts as many weights as its masks keep") {
  const Pruned pruned({0.5, 0.3, 0.67, 0.2});
  const LayerBudget budget(EvolutionConfig{}, pruned.trainee.layers());
  std::vector<std::int64_t> kept;
  for (const Migration& moved : pruned.moved) kept.push_back(moved.kept_weights);
  CHECK(1 - budget.density(kept) == doctest::Approx(sparsity(pruned.model)));
}

TEST_CASE("a channel that returns is what it was, and learns") {
  Pruned pruned;
  TorchTrainee& trainee = pruned.trainee;
  const auto snapshot = trainee.snapshot();
  const auto before = to_floats(pruned.model.tensors.at("norm1.weight"));
  const auto moved =
      trainee.recompute_masks(std::vector<double>{0.0, 0.5, 0.5, 0.5}, std::vector<double>(4, 0.5));
  CHECK(moved[0].entered == 4);
  CHECK(moved[0].left == 0);
  Model open = pruned.model;
  trainee.store(open);
  const auto after = to_floats(open.tensors.at("norm1.weight"));
  for (std::size_t k = 0; k < before.size(); ++k) {
    CHECK(after[k] != 0.0f);
    if (before[k] != 0.0f) CHECK(after[k] == before[k]);
  }
  trainee.train_batches(16, 4);
  Model trained = pruned.model;
  trainee.store(trained);
  for (std::size_t k = 0; k < before.size(); ++k) {
    CHECK(to_floats(trained.tensors.at("norm1.weight"))[k] != after[k]);
  }

  trainee.restore(*snapshot);
  Model back = pruned.model;
  trainee.store(back);
  CHECK((back == pruned.model));
}

TEST_CASE("channels come back in the order of what they were, and go by their filters") {
  Pruned pruned({0.0, 0.0, 0.0, 0.0});
  TorchTrainee& trainee = pruned.trainee;
  const auto kept_after = [&](const std::vector<double>& sparsities) {
    trainee.recompute_masks(sparsities, {});
    trainee.store(pruned.model);
    const ChannelUnits units = channel_units(pruned.model.graph);
    const auto kept = masked_channels(units, pruned.model);
    return std::vector<std::uint8_t>(kept.begin() + 8, kept.begin() + 18);  // of layer a
  };
  const auto weight = to_floats(pruned.model.tensors.at("a.weight"));
  std::vector<std::pair<double, std::size_t>> norms;
  for (std::size_t k = 0; k < 10; ++k) {
    double sum = 0;
    for (std::size_t i = 0; i < 72; ++i) sum += std::abs(weight[72 * k + i]);
    norms.emplace_back(-sum, k);
  }
  std::sort(norms.begin(), norms.end());
  for (const double sparsity : {0.6, 0.8, 0.3}) {
    std::vector<std::uint8_t> expected(10, 0);
    const auto count = static_cast<std::size_t>(std::lround(10 * (1 - sparsity)));
    for (std::size_t i = 0; i < count; ++i) expected[norms[i].second] = 1;
    CHECK(kept_after({0.0, sparsity, 0.0, 0.0}) == expected);
  }
}

TEST_CASE("curves of channels compare layers by their means") {
  Model model = initial_model(branched(), 3);
  TorchTrainee trainee(model, striped_data(), options());
  const auto before = trainee.magnitude_curves();
  for (float& w : model.tensors.at("a.weight").values<float>()) w *= 10;
  trainee.load(model);
  const auto after = trainee.magnitude_curves();
  REQUIRE(before.size() == 4);
  CHECK(before[1].ranks.size() == 10);
  double sum = 0;
  for (std::size_t i = 0; i < 10; ++i) {
    CHECK(after[1].magnitudes[i] == doctest::Approx(before[1].magnitudes[i]).epsilon(1e-5));
    sum += before[1].magnitudes[i];
  }
  CHECK(sum == doctest::Approx(10.0).epsilon(1e-5));
}

TEST_CASE("a snapshot of channel masks goes through host tensors into another trainee") {
  Pruned pruned;
  const auto tensors = pruned.trainee.write_snapshot(*pruned.trainee.snapshot());
  TorchTrainee other(initial_model(branched(), 8), striped_data(), options());
  other.begin(pruning_stage());
  other.restore(*other.read_snapshot(tensors, "file"));
  const std::vector<double> sparsities = {0.25, 0.6, 0.5, 0.0};
  for (TorchTrainee* trainee : {&pruned.trainee, &other}) {
    trainee->recompute_masks(sparsities, std::vector<double>(4, 0.3));
    trainee->train_batches(16, 4);
  }
  Model a = pruned.model, b = pruned.model;
  pruned.trainee.store(a);
  other.store(b);
  CHECK((a == b));
}

TEST_CASE("early weights return under the masks of now") {
  Pruned pruned({0.0, 0.0, 0.0, 0.0});
  TorchTrainee& trainee = pruned.trainee;
  const auto early = trainee.snapshot();
  const auto weights = to_floats(pruned.model.tensors.at("a.weight"));
  trainee.train_batches(16, 4);
  trainee.recompute_masks(std::vector<double>{0.5, 0.5, 0.5, 0.5}, {});
  trainee.rewind_weights(*early);
  Model model = pruned.model;
  trainee.store(model);
  check_model(model, "model");
  const auto bits = model.tensors.at("a.weight.mask").values<std::uint8_t>();
  const auto rewound = to_floats(model.tensors.at("a.weight"));
  CHECK(std::count(bits.begin(), bits.end(), 1) == 5 * 4 * 9);
  for (std::size_t i = 0; i < bits.size(); ++i) {
    CHECK(rewound[i] == (bits[i] ? weights[i] : 0.0f));
  }
}

}  // namespace
}  // namespace winnow
