#include "prune/training/steps/teacher.h"

#include <cmath>

#include "prune/training/network/initialization.h"
#include "prune/training/torch_trainee.h"
#include "tests/training/graphs.h"
#include "tests/training/images.h"
#include "tests/training/torch_doctest.h"

namespace winnow {
namespace {

// Logits are the image's two pixels, times `scale`.
Network scaled(float scale) {
  const Graph graph =
      chain({2}, {{"linear", Linear{.in_features = 2, .out_features = 2, .has_bias = false}}});
  Network network(graph, {.type = torch::kDouble});
  const torch::NoGradGuard no_grad;
  network.parameters().front().value.copy_(scale * torch::eye(2));
  return network;
}

TEST_CASE("a teacher's share of the loss is T^2 times the divergence at temperature T") {
  const Network network = scaled(1.0f);
  const Teacher teacher(network);
  const auto doubles = torch::TensorOptions().dtype(torch::kDouble);
  const torch::Tensor input = torch::tensor({{2.0, 0.0}, {0.0, 4.0}}, doubles);
  const torch::Tensor logits = torch::zeros({2, 2}, doubles).requires_grad_(true);
  const torch::Tensor loss = torch::full({}, 5.0, doubles);
  // Two classes: the teacher's p is the logistic function of the difference over T, ours is 1/2.
  const auto divergence = [](double difference) {
    const double p = 1.0 / (1.0 + std::exp(-difference));
    return p * std::log(2.0 * p) + (1.0 - p) * std::log(2.0 * (1.0 - p));
  };
  const double mean = (divergence(1.0) + divergence(2.0)) / 2.0;
  const torch::Tensor blended =
      teacher.blend(loss, logits, input, {.weight = 0.25, .temperature = 2.0});
  CHECK(blended.item<double>() == doctest::Approx(0.75 * 5.0 + 0.25 * 4.0 * mean).epsilon(1e-6));

  // d/dz of w T^2 KL is w T (p(z) - p(teacher)), here of the mean over two images.
  blended.backward();
  const double p = 1.0 / (1.0 + std::exp(-1.0));
  CHECK(logits.grad()[0][0].item<double>() ==
        doctest::Approx(0.25 * 2.0 * (0.5 - p) / 2.0).epsilon(1e-6));
  CHECK_FALSE(network.parameters().front().value.grad().defined());
}

TEST_CASE("a teacher stays as it was until it becomes another network") {
  const Network network = scaled(1.0f);
  Teacher teacher(network);
  const torch::Tensor input = torch::tensor({{1.0, 3.0}}, torch::kDouble);
  const auto blend = [&] {
    return teacher.blend(torch::zeros({}), torch::zeros({1, 2}, torch::kDouble), input,
                         {.weight = 1.0, .temperature = 1.0});
  };
  const double before = blend().item<double>();
  {
    const torch::NoGradGuard no_grad;
    network.parameters().front().value.mul_(3.0);
  }
  CHECK(blend().item<double>() == before);
  teacher.become(network);
  CHECK(blend().item<double>() > before);
}

TEST_CASE("a teacher sees samples as its own preprocessing makes them") {
  const Network network = scaled(1.0f);
  const Preprocessing own{.mean = {0.5f, 0.25f}, .deviation = {0.5f, 2.0f}};
  const Preprocessing other{.mean = {0.25f, 0.5f}, .deviation = {}};
  const InputChange change = input_change(own, other, network.options());
  // Two channels of one pixel: samples 0.75 and 1.25 as both make them.
  const auto prepared = [](double a, double b) {
    return torch::tensor({a, b}, torch::kDouble).view({1, 2, 1, 1});
  };
  const torch::Tensor changed = prepared(0.5, 0.5) * change.factor + change.offset;
  CHECK(torch::allclose(changed, prepared(0.5, 0.75)));
  CHECK_FALSE(input_change(own, own, network.options()).factor.defined());
}

TraineeOptions with_teacher(double weight) {
  TraineeOptions options;
  options.device = "cpu";
  options.threads = 1;
  options.train.batch_size = 32;
  options.distillation.weight = weight;
  return options;
}

// After a stage of pruning, taught by the network it began with.
Model taught(const Model& model, const DataSet& data, double weight, bool is_pruning) {
  TorchTrainee trainee(model, data, with_teacher(weight));
  const auto start = trainee.snapshot();
  trainee.train_batches(0, 2);
  const auto trained = trainee.snapshot_bytes(*trainee.snapshot());
  trainee.set_teacher(*start);
  CHECK(trainee.snapshot_bytes(*trainee.snapshot()) == trained);
  trainee.begin({.rate = {.rate = 0.05}, .is_pruning = is_pruning});
  trainee.train_batches(2, 6);
  Model after = model;
  trainee.store(after);
  return after;
}

TEST_CASE("with all of the loss the teacher's the labels say nothing, and only while pruning") {
  const Model model = initial_model(small_network(1, 4), 3);
  const DataSet data = striped_data();
  DataSet other = data;
  for (std::int32_t& label : other.train.labels) label = 3 - label;
  TorchTrainee with(model, data, with_teacher(1.0));
  with.begin({.rate = {.rate = 0.05}, .is_pruning = true});
  with.set_teacher(*with.snapshot());
  TorchTrainee without(model, other, with_teacher(1.0));
  without.begin({.rate = {.rate = 0.05}, .is_pruning = true});
  without.set_teacher(*without.snapshot());
  CHECK(with.train_batches(0, 5) == without.train_batches(0, 5));
  CHECK(with.snapshot_bytes(*with.snapshot()) == without.snapshot_bytes(*without.snapshot()));

  const Model dense = taught(model, data, 1.0, false);
  CHECK((dense == taught(model, data, 0.5, false)));
  CHECK_FALSE((taught(model, data, 0.9, true) == taught(model, data, 0.5, true)));
}

// Of 4 classes from the same images, in another way than small_network().
Model other_teacher() {
  const Graph graph = chain(
      {1, 8, 8}, {{"flatten", Flatten{}},
                  {"linear", Linear{.in_features = 64, .out_features = 4, .has_bias = true}}});
  return initial_model(graph, 5);
}

TEST_CASE("a model teaches as its snapshot does, and a model of another graph can teach too") {
  Model model = initial_model(small_network(1, 4), 3);
  model.preprocessing = striped_data().preprocessing;
  const auto taught_by = [&](const Model* teacher) {
    TorchTrainee trainee(model, striped_data(), with_teacher(1.0));
    trainee.begin({.rate = {.rate = 0.05}, .is_pruning = true});
    trainee.train_batches(0, 2);
    const auto before = trainee.snapshot_bytes(*trainee.snapshot());
    if (teacher) {
      trainee.set_teacher(*teacher);
    } else {
      TorchTrainee start(model, striped_data(), with_teacher(1.0));
      trainee.set_teacher(*start.snapshot());
    }
    CHECK(trainee.snapshot_bytes(*trainee.snapshot()) == before);
    trainee.train_batches(2, 6);
    return trainee.snapshot_bytes(*trainee.snapshot());
  };
  const auto by_snapshot = taught_by(nullptr);
  CHECK(taught_by(&model) == by_snapshot);
  const Model other = other_teacher();
  CHECK_FALSE(taught_by(&other) == by_snapshot);
}

}  // namespace
}  // namespace winnow
