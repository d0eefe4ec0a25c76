// In one program with few other tests: LibTorch finds a GPU only if nothing asked it before its
// CUDA half was opened.
#include "prune/training/steps/step_graph.h"

#include <string>
#include <vector>

#include "prune/training/device.h"
#include "prune/training/network/initialization.h"
#include "prune/training/torch_trainee.h"
#include "tests/training/graphs.h"
#include "tests/training/images.h"
#include "tests/training/torch_doctest.h"

namespace winnow {
namespace {

// A dense stage and one of pruning, of batches of 48 with a last one of 16.
Model trained_on_gpu(const torch::Device& device, bool records_steps, bool has_all,
                     const Model& model) {
  TraineeOptions wanted;
  if (has_all) {  // all options that have parts of the step
    wanted.uses_fisher = wanted.feedback = true;
    wanted.train.ema_decay = 0.9;
    wanted.distillation.weight = 0.5;
  }
  wanted.device = device.str();
  wanted.seed = 5;
  wanted.train.batch_size = 48;
  wanted.train.records_steps = records_steps;
  wanted.augment = {.crop_padding = 1, .flip = true, .cutout = 2};
  TorchTrainee trainee(model, striped_data(), wanted);
  CHECK((trainee.device().find("CUDA graphs") != std::string::npos) == records_steps);
  Stage stage = {.rate = {.rate = 0.05}, .units = 4, .batches_per_unit = 8};
  trainee.begin(stage);
  trainee.train_batches(0, 9);
  stage.is_pruning = true;
  if (has_all) trainee.set_teacher(*trainee.snapshot());
  trainee.begin(stage);
  trainee.train_batches(9, 8);
  trainee.recompute_masks(std::vector<double>{0.5, 0.6, 0.7}, std::vector<double>(3, 0.2));
  const auto snapshot = trainee.snapshot();
  trainee.train_batches(17, 3);
  trainee.restore(*snapshot);
  trainee.train_batches(17, 12);
  Model after = model;
  trainee.store(after);
  return after;
}

TEST_CASE("steps launched as CUDA graphs have the bits of steps that run as they are") {
  const torch::Device device = resolve_device("auto");
  if (device.is_cpu() || !make_step_graphs(device)) {
    MESSAGE("skipped: no GPU, or no module for CUDA graphs");
    return;
  }
  Graph graph = small_network(1, 4);
  graph.nodes.insert(graph.nodes.begin() + 7, {"dropout", Dropout{.probability = 0.3}, {"relu2"}});
  graph.nodes[8].inputs = {"dropout"};
  const Model model = initial_model(graph, 3);
  for (const bool has_all : {false, true}) {
    const Model recorded = trained_on_gpu(device, true, has_all, model);
    CHECK((recorded == trained_on_gpu(device, false, has_all, model)));
    CHECK_FALSE((recorded == model));
  }
}

TEST_CASE("the memory that LibTorch held at most has its largest tensor in it") {
  const torch::Device device = resolve_device("auto");
  if (device.is_cpu()) {
    CHECK(peak_gpu_bytes(device) == 0);
    return;
  }
  if (!make_step_graphs(device)) {
    MESSAGE("skipped: no module for CUDA graphs");
    return;
  }
  constexpr std::int64_t kBytes = std::int64_t{64} << 20;
  { const auto large = torch::empty({kBytes}, torch::device(device).dtype(torch::kUInt8)); }
  const std::int64_t peak = peak_gpu_bytes(device);
  CHECK(peak >= kBytes);
  CHECK(peak < std::int64_t{1} << 40);
}

}  // namespace
}  // namespace winnow
