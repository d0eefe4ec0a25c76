#include "prune/training/masks/group_lasso.h"

#include <torch/types.h>

#include <cmath>

#include "prune/methods/make_method.h"
#include "prune/training/network/initialization.h"
#include "prune/training/torch_trainee.h"
#include "prune/training/trainability.h"
#include "tests/training/graphs.h"
#include "tests/training/images.h"
#include "tests/training/torch_doctest.h"

namespace winnow {
namespace {

TEST_CASE("the proximal step, worked out: 3 filters of 2 x 2 weights") {
  torch::Tensor weight = torch::tensor({3.0f, 0.0f, 0.0f, 4.0f,  // norm 5
                                        0.3f, 0.0f, 0.0f, 0.4f,  // 0.5
                                        0.0f, 0.0f, 0.0f, 0.0f})
                             .view({3, 2, 1, 2});
  CHECK(to_doubles(filter_norms(weight)) == std::vector<double>{5.0, 0.5, 0.0});
  const torch::Tensor old = weight.clone();
  shrink(weight, GroupKind::filters, 0.5, 4.0);  // threshold 1
  CHECK(torch::allclose(weight[0], old[0] * 0.8));
  CHECK(torch::equal(weight[1], torch::zeros_like(weight[1])));

  weight.copy_(old);
  shrink(weight, GroupKind::channels, 0.1, 4.0);  // threshold 0.2
  const double first = std::sqrt(9.09), second = std::sqrt(16.16);
  CHECK(torch::allclose(weight.select(1, 0), old.select(1, 0) * (1 - 0.2 / first)));
  CHECK(torch::allclose(weight.select(1, 1), old.select(1, 1) * (1 - 0.2 / second)));

  weight.copy_(old);
  shrink(weight, GroupKind::shapes, 10.0, 9.0);  // threshold 30: 0.9 of the strongest
  const double norms[] = {first, second};
  CHECK(weight[0][0][0][0].item<float>() == 0.0f);  // 0.9 * 4.02 is more than 3.01
  CHECK(weight[0][1][0][1].item<float>() == doctest::Approx(0.4));
  CHECK(norms[0] < 0.9 * norms[1]);
}

TEST_CASE("shrinking keeps the strides of a weight, and its place") {
  torch::Tensor weight =
      torch::rand({4, 3, 3, 3}).contiguous(torch::MemoryFormat::ChannelsLast).requires_grad_(true);
  const auto* data = weight.data_ptr();
  shrink(weight, GroupKind::filters, 0.01, 27.0);
  CHECK(weight.data_ptr() == data);
  CHECK(weight.is_contiguous(torch::MemoryFormat::ChannelsLast));
}

TraineeOptions options(std::int64_t vector) {
  TraineeOptions result;
  result.device = "cpu";
  result.threads = 1;
  result.seed = 5;
  result.train.batch_size = 32;
  result.vector = vector;
  return result;
}

TorchTrainee make_trainee(std::int64_t vector) {
  return {initial_model(small_network(1, 4), 3), striped_data(), options(vector)};
}

void begin(TorchTrainee& trainee) {
  trainee.begin({.rate = {.decay = Decay::constant, .rate = 0.05},
                 .units = 4,
                 .batches_per_unit = 8,
                 .is_pruning = true});
}

TEST_CASE(
    "groups are filters and kernel shapes; the network's output and input have none to lose") {
  TorchTrainee trainee = make_trainee(1);
  const auto norms = trainee.group_norms();
  REQUIRE(norms.size() == 3);
  CHECK(norms[0].filters.size() == 8);
  CHECK(norms[0].shapes.size() == 9);
  CHECK(norms[1].filters.size() == 12);
  CHECK(norms[1].shapes.size() == 72);
  CHECK(norms[2].filters.empty());
  CHECK(norms[2].shapes.size() == 48);
}

std::size_t dead(const std::vector<double>& norms) {
  return static_cast<std::size_t>(std::count(norms.begin(), norms.end(), 0.0));
}

TEST_CASE("filters die under a penalty between channels, kernel shapes within them") {
  TorchTrainee trainee = make_trainee(1);
  begin(trainee);
  trainee.set_penalty({GroupStage::between_channels, {0.01, 0.6, 0.0}});
  trainee.train_batches(0, 8);
  auto norms = trainee.group_norms();
  CHECK(dead(norms[1].filters) >= 6);
  CHECK(dead(norms[1].filters) < 12);  // the strongest never dies
  CHECK(dead(norms[2].shapes) == 0);

  TorchTrainee within = make_trainee(1);
  begin(within);
  within.set_penalty({GroupStage::within_channels, {0.0, 0.6, 0.6}});
  within.train_batches(0, 8);
  norms = within.group_norms();
  CHECK(dead(norms[0].shapes) == 0);
  CHECK(dead(norms[1].shapes) > 36);
  CHECK(dead(norms[1].shapes) < 72);
  CHECK(dead(norms[1].filters) == 0);
  CHECK(dead(norms[2].shapes) > 0);

  within.set_penalty({GroupStage::none, {0.1, 0.1, 0.1}});
  const auto before = dead(within.group_norms()[0].shapes);
  within.train_batches(8, 4);
  CHECK(dead(within.group_norms()[0].shapes) == before);
}

TEST_CASE("kept groups are masks, and what is dropped stays so") {
  TorchTrainee trainee = make_trainee(1);
  begin(trainee);
  std::vector<KeptGroups> kept(3);
  kept[0] = {std::vector<std::uint8_t>(8, 1), std::vector<std::uint8_t>(9, 1)};
  kept[0].filters[3] = 0;
  kept[1] = {std::vector<std::uint8_t>(12, 1), std::vector<std::uint8_t>(72, 1)};
  kept[1].shapes[70] = kept[1].shapes[5] = 0;
  kept[2] = {{}, std::vector<std::uint8_t>(48, 1)};
  const auto moved = trainee.keep_groups(kept);
  CHECK(moved[0].left == 9);
  CHECK(moved[1].kept_weights == 12 * 70);
  CHECK(moved[2].left == 0);
  kept[0].filters[3] = 1;
  CHECK(trainee.keep_groups(kept)[0].entered == 0);
  trainee.train_batches(0, 4);
  const auto norms = trainee.group_norms();
  CHECK(norms[0].filters[3] == 0.0);
  CHECK(norms[1].shapes[5] == 0.0);
  CHECK(dead(norms[1].shapes) == 2);
}

TEST_CASE("whole channels have one norm over all layers that share them, and die together") {
  TorchTrainee trainee = make_trainee(kWholeChannels);
  begin(trainee);
  trainee.set_penalty({GroupStage::between_channels, {0.0, 0.6}});
  trainee.train_batches(0, 8);
  const auto norms = trainee.group_norms();
  REQUIRE(norms.size() == 2);
  CHECK(norms[0].filters.size() == 8);
  CHECK(norms[0].shapes.empty());
  CHECK(dead(norms[0].filters) == 0);
  CHECK(dead(norms[1].filters) >= 6);
  CHECK(dead(norms[1].filters) < 12);
  std::vector<KeptGroups> kept;
  for (const GroupNorms& layer : norms) {
    KeptGroups& groups = kept.emplace_back();
    for (const double norm : layer.filters) groups.filters.push_back(norm > 0);
  }
  const auto moved = trainee.keep_groups(kept);
  CHECK(moved[1].kept == static_cast<std::int64_t>(12 - dead(norms[1].filters)));
  Model model = initial_model(small_network(1, 4), 3);
  trainee.store(model);
  check_model(model, "model");
  CHECK(sparsity(model) > 0.3);
}

}  // namespace
}  // namespace winnow
