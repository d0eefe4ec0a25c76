#include "prune/training/torch_trainee.h"

#include <cmath>
#include <numeric>

#include "prune/training/network/initialization.h"
#include "prune/training/network/network.h"
#include "prune/training/network/statistics_estimate.h"
#include "prune/training/steps/batches.h"
#include "prune/training/tensor_bridge.h"
#include "prune/training/trainability.h"
#include "tests/throws.h"
#include "tests/training/graphs.h"
#include "tests/training/images.h"
#include "tests/training/torch_doctest.h"

namespace winnow {
namespace {

TraineeOptions options(std::int64_t vector = 1) {
  TraineeOptions result;
  result.device = "cpu";
  result.threads = 1;
  result.seed = 5;
  result.train.batch_size = 32;
  result.vector = vector;
  return result;
}

Stage pruning_stage() {
  return {.rate = {.decay = Decay::constant, .rate = 0.05},
          .units = 4,
          .batches_per_unit = 8,
          .is_pruning = true};
}

Model small_model() {
  return initial_model(small_network(1, 4), 3);
}

Model stored(const TorchTrainee& trainee) {
  Model model = small_model();
  trainee.store(model);
  return model;
}

TEST_CASE("a trainee describes its prunable layers in graph order") {
  const DataSet data = striped_data();
  const TorchTrainee trainee(small_model(), data, options(8));
  REQUIRE(trainee.layers().size() == 3);
  const PrunableLayer& conv2 = trainee.layers()[1];
  CHECK(conv2.name == "conv2");
  CHECK(conv2.weights == 12 * 8 * 9);
  CHECK(conv2.blocks == 2 * 8 * 9);  // 12 channels are two groups
  CHECK(conv2.weights_per_block == 8);
  CHECK(conv2.macs_per_weight == 4.0);  // 2 x 2 positions
}

TEST_CASE("batch norm's statistics become those of the images where that is asked for") {
  Graph graph = small_network(1, 4);  // with a second norm, whose input the first one shapes
  graph.nodes.insert(graph.nodes.begin() + 6, {"norm2", BatchNorm{.channels = 12}, {"conv2"}});
  graph.nodes[7].inputs = {"norm2"};
  const Model model = initial_model(graph, 3);
  const DataSet data = striped_data();
  TraineeOptions wanted = options();
  wanted.batch_norm_images = 100;
  TorchTrainee trainee(model, data, wanted);
  trainee.measure_accuracy();  // no stage of pruning: untouched
  Model after = model;
  trainee.store(after);
  CHECK((after.tensors == model.tensors));
  trainee.begin(pruning_stage());
  trainee.measure_accuracy();
  trainee.store(after);

  // Training with momentum 1 leaves the statistics of its last batch.
  for (Node& node : graph.nodes) {
    if (auto* norm = std::get_if<BatchNorm>(&node.op)) norm->momentum = 1;
  }
  Network network(graph, {});
  network.load(model);
  const torch::NoGradGuard no_grad;
  const EvaluationBatches batches(ResidentImages(data.train, data.preprocessing, torch::kCPU), 100);
  network.forward(batches.at(0).input, Mode::training);
  for (const NamedTensor& tensor : network.statistics()) {
    CAPTURE(tensor.name);
    const torch::Tensor found = to_torch(after.tensors.at(tensor.name), torch::kCPU);
    CHECK(torch::allclose(found, tensor.value, 1e-4, 1e-6));
    CHECK_FALSE((after.tensors.at(tensor.name) == model.tensors.at(tensor.name)));
  }
  CHECK((after.tensors.at("conv1.weight") == model.tensors.at("conv1.weight")));
}

TEST_CASE("statistics of several batches are their means, weighted by size") {
  const Model model = initial_model(small_network(1, 4), 3);
  Network network(model.graph, {});
  network.load(model);
  const torch::NoGradGuard no_grad;
  torch::Tensor conv;
  const auto keep = [&](const Node& node, const torch::Tensor& value) {
    if (node.name == "conv1") conv = value.clone();
    return value;
  };
  const DataSet data = striped_data();
  const EvaluationBatches batches(ResidentImages(data.train, data.preprocessing, torch::kCPU), 4);
  StatisticsEstimate estimate(network);
  const torch::Tensor a = batches.at(0).input, b = batches.at(1).input.narrow(0, 0, 2);
  estimate.add(a);
  estimate.add(b);
  estimate.finish();
  const auto of = [&](const torch::Tensor& input) {
    network.forward(input, Mode::evaluation, keep);
    const torch::Tensor rows = conv.transpose(0, 1).flatten(1);
    return std::pair(rows.mean(1), rows.var(1));
  };
  const auto [mean_a, var_a] = of(a);
  const auto [mean_b, var_b] = of(b);
  CHECK(torch::allclose(network.statistics()[0].value, (4 * mean_a + 2 * mean_b) / 6, 1e-4, 1e-6));
  CHECK(torch::allclose(network.statistics()[1].value, (4 * var_a + 2 * var_b) / 6, 1e-4, 1e-6));
}

TEST_CASE("training learns the stripes") {
  TorchTrainee trainee(small_model(), striped_data(), options());
  trainee.begin(pruning_stage());
  const double first = trainee.train_batches(0, 8);
  const double last = trainee.train_batches(8, 24);
  CHECK(last < first);
  CHECK(trainee.measure_accuracy() > 0.9);
}

TEST_CASE("a network with numbers that are not finite is known, by the tensor") {
  TorchTrainee trainee(small_model(), striped_data(), options());
  CHECK(trainee.first_not_finite().empty());
  for (const float bad : {NAN, INFINITY, -INFINITY}) {
    for (auto& [name, tensor] : stored(trainee).tensors) {
      Model model = small_model();
      model.tensors.at(name).values<float>().back() = bad;
      trainee.load(model);
      CHECK(trainee.first_not_finite() == name);
      trainee.load(small_model());
    }
  }
}

TEST_CASE("masked weights stay exactly 0 through training and are counted in migrations") {
  TorchTrainee trainee(small_model(), striped_data(), options());
  trainee.begin(pruning_stage());
  trainee.train_batches(0, 4);
  const std::vector<double> sparsities = {0.5, 0.75, 0.9};
  const auto migrations = trainee.recompute_masks(sparsities, std::vector<double>(3, 0.2));
  CHECK(migrations[0].left == 36);
  CHECK(migrations[0].kept == 36);
  CHECK(migrations[2].kept_weights == 19);  // round(0.1 * 192)
  trainee.train_batches(4, 4);
  const Model model = stored(trainee);
  check_model(model, "model");
  CHECK(sparsity(model) == doctest::Approx((36 + 648 + 173) / 1128.0));

  const auto again = trainee.recompute_masks(sparsities, std::vector<double>(3, 0.5));
  CHECK(again[1].entered == again[1].left);
  CHECK(again[1].entered > 0);  // pruned weights return where their gradients are large
}

// After one batch from the same weights.
std::map<std::string, Tensor> gradient_sums(const TraineeOptions& options) {
  TorchTrainee trainee(small_model(), striped_data(), options);
  trainee.begin(pruning_stage());
  trainee.train_batches(0, 1);
  std::map<std::string, Tensor> sums = trainee.write_snapshot(*trainee.snapshot());
  std::erase_if(sums, [](const auto& one) { return !one.first.ends_with(".gradient"); });
  return sums;
}

TEST_CASE(
    "gradients are summed as they are: of blocks, channels, clipped, with feedback, squared") {
  const auto expected = gradient_sums(options());
  REQUIRE(expected.size() == 3);
  for (const auto& [name, sum] : expected) {
    CAPTURE(name);
    const auto values = sum.values<float>();
    CHECK(std::count(values.begin(), values.end(), 0.0f) < std::ssize(values) / 2);
  }
  TraineeOptions clipped = options(), feedback = options(8), fisher = options(8);
  clipped.train.clip_norm = 1e-3;
  feedback.feedback = true;
  fisher.uses_fisher = true;
  for (const TraineeOptions& other : {clipped, feedback, fisher, options(kWholeChannels)}) {
    CHECK((gradient_sums(other) == expected));
  }
}

TEST_CASE("vector masks keep or drop whole groups of channels") {
  TorchTrainee trainee(small_model(), striped_data(), options(8));
  trainee.begin(pruning_stage());
  trainee.train_batches(0, 2);
  trainee.recompute_masks(std::vector<double>{0.5, 0.5, 0.5}, std::vector<double>(3, 0.1));
  const Model model = stored(trainee);
  check_model(model, "model");
  CHECK(model.mask_vector.at("conv2") == 8);
  CHECK(model.tensors.at("conv2.weight.mask").shape() == Shape{2, 8, 3, 3});
  CHECK(model.tensors.at("linear.weight.mask").shape() == Shape{1, 48});
}

TEST_CASE("row-balanced masks keep equally many blocks in every row") {
  TraineeOptions balanced = options(8);
  balanced.row_balance = true;
  TorchTrainee trainee(small_model(), striped_data(), balanced);
  trainee.begin(pruning_stage());
  trainee.train_batches(0, 2);
  trainee.recompute_masks(std::vector<double>{0.5, 0.5, 0.5}, std::vector<double>(3, 0.1));
  const auto stored_mask = stored(trainee).tensors.at("conv2.weight.mask");
  const auto mask = stored_mask.values<std::uint8_t>();
  REQUIRE(mask.size() == 144);
  CHECK(std::accumulate(mask.begin(), mask.begin() + 72, 0) == 36);
  CHECK(std::accumulate(mask.begin() + 72, mask.end(), 0) == 36);
}

TEST_CASE("restoring a snapshot repeats training bit for bit") {
  TorchTrainee trainee(small_model(), striped_data(), options());
  trainee.begin(pruning_stage());
  trainee.train_batches(0, 3);
  trainee.recompute_masks(std::vector<double>{0.5, 0.5, 0.5}, std::vector<double>(3, 0.3));
  const auto snapshot = trainee.snapshot();
  trainee.train_batches(3, 5);
  trainee.recompute_masks(std::vector<double>{0.8, 0.8, 0.8}, std::vector<double>(3, 0.3));
  const Model first = stored(trainee);

  trainee.restore(*snapshot);
  CHECK_FALSE((stored(trainee) == first));
  trainee.train_batches(3, 5);
  trainee.recompute_masks(std::vector<double>{0.8, 0.8, 0.8}, std::vector<double>(3, 0.3));
  CHECK((stored(trainee) == first));
}

TEST_CASE("a snapshot goes through host tensors into another trainee unchanged") {
  const DataSet data = striped_data();
  TorchTrainee trainee(small_model(), data, options(8));
  trainee.begin(pruning_stage());
  trainee.train_batches(0, 3);
  trainee.recompute_masks(std::vector<double>{0.5, 0.5, 0.5}, std::vector<double>(3, 0.3));
  auto tensors = trainee.write_snapshot(*trainee.snapshot());

  TorchTrainee other(small_model(), data, options(8));
  other.begin(pruning_stage());
  other.restore(*other.read_snapshot(tensors, "file"));
  CHECK((stored(other) == stored(trainee)));
  trainee.train_batches(3, 3);
  other.train_batches(3, 3);
  CHECK((stored(other) == stored(trainee)));

  tensors.erase("conv2.weight.momentum");
  CHECK(error_of([&] { other.read_snapshot(tensors, "file"); }) == ErrorCode::bad_file);
}

TEST_CASE("a fingerprint is that of the masks, not of the weights") {
  TorchTrainee trainee(small_model(), striped_data(), options());
  trainee.begin(pruning_stage());
  trainee.recompute_masks(std::vector<double>{0.5, 0.5, 0.5}, {});
  const std::uint64_t before = trainee.fingerprint(*trainee.snapshot());
  trainee.train_batches(0, 3);
  CHECK(trainee.fingerprint(*trainee.snapshot()) == before);
  trainee.recompute_masks(std::vector<double>{0.6, 0.5, 0.5}, {});
  CHECK(trainee.fingerprint(*trainee.snapshot()) != before);
}

TEST_CASE("with feedback pruned weights are trained by the gradient of the masked network") {
  TraineeOptions wanted = options();
  wanted.feedback = true;
  TorchTrainee trainee(small_model(), striped_data(), wanted);
  TorchTrainee plain(small_model(), striped_data(), options());
  const std::vector<double> half(3, 0.5), none(3, 0.0);
  for (TorchTrainee* one : {&trainee, &plain}) {
    one->begin(pruning_stage());
    one->recompute_masks(half, {});
    one->train_batches(0, 4);
  }
  const Model masked = stored(trainee);
  CHECK(sparsity(masked) == doctest::Approx(0.5).epsilon(0.01));
  // Before anything comes back both have trained the same network, but for the momentum of what is
  // pruned, which counts for nothing there.
  const auto conv1 = [](const Model& model) {  // -0 is 0
    const auto values = model.tensors.at("conv1.weight").values<float>();
    return std::vector<float>(values.begin(), values.end());
  };
  CHECK(conv1(masked) == conv1(stored(plain)));

  trainee.recompute_masks(none, {});
  plain.recompute_masks(none, {});
  const std::string name = "conv2.weight";
  const Model all = stored(trainee), without = stored(plain), initial = small_model();
  const std::span<const float> back = all.tensors.at(name).values<float>();
  const std::span<const float> zeros = without.tensors.at(name).values<float>();
  const std::span<const float> before = initial.tensors.at(name).values<float>();
  const std::span<const std::uint8_t> mask =
      masked.tensors.at(name + ".mask").values<std::uint8_t>();
  std::size_t returned = 0;
  for (std::size_t i = 0; i < back.size(); ++i) {
    if (mask[i] != 0) continue;
    CHECK(zeros[i] == 0.0f);
    returned += back[i] != 0.0f && back[i] != before[i] ? 1 : 0;
  }
  CHECK(returned > back.size() / 3);  // as they were, and what the gradient made of them
}

TEST_CASE("feedback begins with what a stage without masks left, and goes on from a snapshot") {
  TraineeOptions wanted = options();
  wanted.feedback = true;
  TorchTrainee trainee(small_model(), striped_data(), wanted);
  Stage dense = pruning_stage();
  dense.is_pruning = false;
  trainee.begin(dense);
  trainee.train_batches(0, 4);
  const Model trained = stored(trainee);
  trainee.begin(pruning_stage());
  trainee.recompute_masks(std::vector<double>(3, 0.5), {});
  trainee.recompute_masks(std::vector<double>(3, 0.0), {});
  CHECK((stored(trainee).tensors == trained.tensors));

  trainee.recompute_masks(std::vector<double>(3, 0.5), {});
  trainee.train_batches(4, 2);
  const auto snapshot = trainee.snapshot();
  const auto go_on = [&](TorchTrainee& one) {
    one.recompute_masks(std::vector<double>(3, 0.3), {});
    one.train_batches(6, 3);
    return stored(one);
  };
  const Model expected = go_on(trainee);
  TorchTrainee other(small_model(), striped_data(), wanted);
  other.begin(pruning_stage());
  other.restore(*other.read_snapshot(trainee.write_snapshot(*snapshot), "file"));
  CHECK((go_on(other) == expected));
}

// The linear layer's first four inputs are always 0, its weights of them are large.
Model with_idle_inputs() {
  Model model = small_model();
  for (const char* name : {"conv2.weight", "conv2.bias"}) {
    const auto values = model.tensors.at(name).values<float>();
    std::fill_n(values.begin(), values.size() / 12, 0.0f);
  }
  const auto linear = model.tensors.at("linear.weight").values<float>();
  for (std::size_t o = 0; o < 4; ++o) std::fill_n(linear.begin() + 48 * o, 4, 9.0f);
  return model;
}

std::int64_t kept_of_idle_inputs(TorchTrainee& trainee) {
  const Model model = stored(trainee);
  const auto mask = model.tensors.at("linear.weight.mask").values<std::uint8_t>();
  std::int64_t kept = 0;
  for (std::size_t o = 0; o < 4; ++o) {
    kept += std::accumulate(mask.begin() + 48 * o, mask.begin() + 48 * o + 4, std::int64_t{0});
  }
  return kept;
}

TEST_CASE("a Fisher criterion prunes what the loss does not feel first, magnitude what is small") {
  const std::vector<double> half(3, 0.5), fewer(3, 0.8);
  for (const bool uses_fisher : {false, true}) {
    CAPTURE(uses_fisher);
    TraineeOptions wanted = options();
    wanted.uses_fisher = uses_fisher;
    TorchTrainee trainee(with_idle_inputs(), striped_data(), wanted);
    trainee.begin(pruning_stage());
    trainee.recompute_masks(half, {});
    CHECK(kept_of_idle_inputs(trainee) == 16);  // no gradient yet: by magnitude
    trainee.train_batches(0, 3);
    trainee.recompute_masks(fewer, {});
    CHECK(kept_of_idle_inputs(trainee) == (uses_fisher ? 0 : 16));
    if (!uses_fisher) continue;
    const auto curve = trainee.magnitude_curves().back();
    CHECK(curve.magnitudes.front() > 0);
    CHECK(curve.magnitudes.front() < 1);  // not 9
  }
}

TEST_CASE("the squares of a Fisher criterion go on from a snapshot") {
  TraineeOptions wanted = options();
  wanted.uses_fisher = true;
  TorchTrainee trainee(small_model(), striped_data(), wanted);
  trainee.begin(pruning_stage());
  trainee.train_batches(0, 5);
  const auto snapshot = trainee.snapshot();
  const auto go_on = [&](TorchTrainee& one) {
    one.recompute_masks(std::vector<double>(3, 0.6), {});
    one.train_batches(5, 3);
    one.recompute_masks(std::vector<double>(3, 0.8), {});
    return stored(one);
  };
  const Model expected = go_on(trainee);
  TorchTrainee other(small_model(), striped_data(), wanted);
  other.begin(pruning_stage());
  other.restore(*snapshot);
  CHECK((go_on(other).tensors == expected.tensors));
}

TEST_CASE("feedback decay draws pruned weights to 0 in proportion, and no others") {
  const auto after_a_step = [](double decay) {
    TraineeOptions wanted = options();
    wanted.feedback = true;
    wanted.feedback_decay = decay;
    TorchTrainee trainee(small_model(), striped_data(), wanted);
    trainee.begin(pruning_stage());
    trainee.recompute_masks(std::vector<double>(3, 0.5), {});
    trainee.train_batches(0, 1);
    const Model masked = stored(trainee);
    trainee.recompute_masks(std::vector<double>(3, 0.0), {});
    return std::pair(masked, stored(trainee));
  };
  const auto [masked, free] = after_a_step(0.0);
  const Model drawn = after_a_step(0.1).second, twice = after_a_step(0.2).second;
  const std::string name = "conv2.weight";
  const Model initial = small_model();
  const auto mask = masked.tensors.at(name + ".mask").values<std::uint8_t>();
  const auto value = [&](const Model& model, std::size_t i) {
    return static_cast<double>(model.tensors.at(name).values<float>()[i]);
  };
  double share = 0.0;  // of a pruned weight, taken in the step
  for (std::size_t i = 0; i < mask.size(); ++i) {
    if (mask[i] != 0) {
      CHECK(value(drawn, i) == value(free, i));
    } else if (std::abs(value(initial, i)) > 0.01) {
      const double taken = (value(free, i) - value(drawn, i)) / value(initial, i);
      if (share == 0.0) share = taken;
      CHECK(taken > 0.0);
      CHECK(taken == doctest::Approx(share).epsilon(0.01));
      CHECK((value(free, i) - value(twice, i)) / value(initial, i) ==
            doctest::Approx(2.0 * share).epsilon(0.01));
    }
  }
  CHECK(share > 0.0);
}

TEST_CASE("a stop after a batch throws and leaves the network as after that batch") {
  TraineeOptions stopping = options();
  std::int64_t last = -1;
  stopping.on_batch = [&](std::int64_t batch) { last = batch; };
  stopping.should_stop = [&] { return last == 2; };
  TorchTrainee interrupted(small_model(), striped_data(), stopping);
  interrupted.begin(pruning_stage());
  CHECK(error_of([&] { interrupted.train_batches(0, 8); }) == ErrorCode::interrupted);

  TorchTrainee whole(small_model(), striped_data(), options());
  whole.begin(pruning_stage());
  whole.train_batches(0, 3);
  CHECK((stored(interrupted) == stored(whole)));
}

TEST_CASE("a trainee refuses data that the network cannot take, and devices that are not there") {
  DataSet data = striped_data();
  TraineeOptions unknown = options();
  unknown.device = "gpu";
  CHECK(error_of([&] { TorchTrainee(small_model(), data, unknown); }) == ErrorCode::usage);
  data.train.classes.emplace_back("e");
  CHECK(error_of([&] { TorchTrainee(small_model(), data, options()); }) == ErrorCode::usage);
}

}  // namespace
}  // namespace winnow
