#include "prune/training/weight_average.h"

#include "prune/training/network/initialization.h"
#include "prune/training/torch_trainee.h"
#include "tests/training/graphs.h"
#include "tests/training/images.h"
#include "tests/training/torch_doctest.h"

namespace winnow {
namespace {

constexpr double kDecay = 0.75;

TraineeOptions averaging(double decay) {
  TraineeOptions options;
  options.device = "cpu";
  options.threads = 1;
  options.train.batch_size = 32;
  options.train.ema_decay = decay;
  return options;
}

Stage stage(bool is_pruning) {
  return {.rate = {.decay = Decay::constant, .rate = 0.05},
          .units = 4,
          .batches_per_unit = 8,
          .is_pruning = is_pruning};
}

Model model() {
  return initial_model(small_network(1, 4), 3);
}

Model stored(const TorchTrainee& trainee) {
  Model result = model();
  trainee.store(result);
  return result;
}

TEST_CASE("what is stored is the moving average of weights and statistics") {
  const DataSet data = striped_data();
  TorchTrainee averaged(model(), data, averaging(kDecay));
  TorchTrainee plain(model(), data, averaging(0.0));
  CHECK((stored(averaged).tensors == model().tensors));
  std::map<std::string, std::vector<double>> expected;
  for (const auto& [name, tensor] : model().tensors) {
    for (const float value : tensor.values<float>()) expected[name].push_back(value);
  }
  for (int step = 0; step < 3; ++step) {
    averaged.train_batches(step, 1);
    plain.train_batches(step, 1);
    const Model now = stored(plain);
    for (auto& [name, values] : expected) {
      const auto found = now.tensors.at(name).values<float>();
      for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = kDecay * values[i] + (1.0 - kDecay) * found[i];
      }
    }
  }
  const Model found = stored(averaged);
  for (const auto& [name, values] : expected) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      CHECK(found.tensors.at(name).values<float>()[i] == doctest::Approx(values[i]).epsilon(1e-5));
    }
  }
}

TEST_CASE("measuring and storing an average changes no training, and masks hold in it") {
  const DataSet data = striped_data();
  TorchTrainee looked_at(model(), data, averaging(kDecay));
  TorchTrainee left_alone(model(), data, averaging(kDecay));
  for (TorchTrainee* one : {&looked_at, &left_alone}) {
    one->begin(stage(true));
    one->train_batches(0, 4);
    one->recompute_masks(std::vector<double>{0.5, 0.7, 0.5}, {});
    if (one == &looked_at) {
      one->measure_accuracy();
      CHECK(sparsity(stored(*one)) == doctest::Approx(0.6).epsilon(0.05));
    }
    one->train_batches(4, 4);
  }
  CHECK(looked_at.snapshot_bytes(*looked_at.snapshot()) ==
        left_alone.snapshot_bytes(*left_alone.snapshot()));
  const Model after = stored(looked_at);
  const auto mask = after.tensors.at("conv2.weight.mask").values<std::uint8_t>();
  const auto weights = after.tensors.at("conv2.weight").values<float>();
  for (std::size_t i = 0; i < mask.size(); ++i) CHECK((mask[i] != 0 || weights[i] == 0.0f));
}

TEST_CASE("statistics that are estimated anew are those of the average, and stay with it") {
  const DataSet data = striped_data();
  TraineeOptions wanted = averaging(kDecay);
  wanted.batch_norm_images = 100;
  TorchTrainee trainee(model(), data, wanted);
  trainee.begin(stage(true));
  trainee.train_batches(0, 5);
  const Model before = stored(trainee);
  const double accuracy = trainee.measure_accuracy();
  const Model after = stored(trainee);
  CHECK((before.tensors.at("conv1.weight") == after.tensors.at("conv1.weight")));
  CHECK_FALSE((before.tensors.at("norm1.running_mean") == after.tensors.at("norm1.running_mean")));
  TorchTrainee alone(after, data, averaging(0.0));
  CHECK(alone.measure_accuracy() == accuracy);
}

TEST_CASE("an average goes on from a snapshot, and begins anew with a model") {
  const DataSet data = striped_data();
  TorchTrainee first(model(), data, averaging(kDecay)), second(model(), data, averaging(kDecay));
  first.train_batches(0, 3);
  const auto snapshot = first.snapshot();
  first.train_batches(3, 3);
  second.restore(*second.read_snapshot(first.write_snapshot(*snapshot), "file"));
  second.train_batches(3, 3);
  CHECK((stored(first) == stored(second)));
  first.load(model());
  CHECK((stored(first).tensors == model().tensors));
}

}  // namespace
}  // namespace winnow
