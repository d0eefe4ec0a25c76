#include "prune/evolution/budget/layer_budget.h"

#include <doctest/doctest.h>

#include <vector>

#include "tests/throws.h"

namespace winnow {
namespace {

const std::vector<PrunableLayer> kLayers = {
    {"conv1", 100, 1, 100, 50.0},
    {"conv2", 25, 16, 380, 10.0},  // the last groups are ragged
    {"fc", 520, 1, 520, 1.0},
};

TEST_CASE("density counts weights or multiply-accumulates") {
  EvolutionConfig config;
  CHECK(LayerBudget(config, kLayers).density(std::vector<std::int64_t>{50, 190, 10}) == 0.25);
  config.budget = Budget::macs;
  const LayerBudget macs(config, kLayers);
  CHECK(macs.density(std::vector<std::int64_t>{50, 190, 10}) ==
        doctest::Approx((2500 + 1900 + 10.0) / (5000 + 3800 + 520)));
  CHECK(macs.weight_density(std::vector<std::int64_t>{50, 190, 10}) == 0.25);
}

TEST_CASE("an excluded layer is outside the budget") {
  EvolutionConfig config;
  config.exclude = {"fc"};
  const LayerBudget budget(config, kLayers);
  CHECK(budget.density(std::vector<std::int64_t>{50, 190, 520}) == 0.5);
  CHECK(budget.weight_density(std::vector<std::int64_t>{50, 190, 520}) == 0.5);
  CHECK(budget.range(2).max == 0.0);
}

TEST_CASE("the planned density takes every kept block for a full one, but no more than there is") {
  const LayerBudget budget(EvolutionConfig{}, kLayers);
  CHECK(budget.kept_cost(1, 0.6) == 160.0);  // 10 blocks of 16
  CHECK(budget.kept_cost(1, 0.0) == 380.0);
  CHECK(budget.planned_density(std::vector<double>{0.5, 0.6, 0.0}) == 0.73);
}

TEST_CASE("balanced rows are planned with what each of them keeps") {
  std::vector<PrunableLayer> layers = kLayers;
  layers[2].balanced_rows = 8;  // of 65 blocks
  const LayerBudget budget(EvolutionConfig{}, layers);
  CHECK(budget.most_kept(2, 0.5) == 8 * 33);
  CHECK(LayerBudget(EvolutionConfig{}, kLayers).most_kept(2, 0.5) == 260);
  CHECK(budget.most_kept(2, 0.999) == 8);
  CHECK(budget.has_balanced_rows());
  // 10 channels in vectors of 8: two rows of 32 blocks, the second with 2 channels.
  const PrunableLayer ragged{
      .name = "a", .blocks = 64, .weights_per_block = 8, .weights = 320, .balanced_rows = 2};
  CHECK(LayerBudget(EvolutionConfig{}, {ragged}).most_kept(0, 0.3125) == 220);
}

TEST_CASE("the goal is the target or what the limits allow") {
  EvolutionConfig config;
  config.target_sparsity = 0.75;
  CHECK(LayerBudget(config, kLayers).goal_density() == 0.25);
  config.layer_limits = {{"fc", 0.0, 0.5}};
  const LayerBudget limited(config, kLayers);
  CHECK(limited.goal_density() == limited.reachable_density());
  CHECK(limited.goal_density() == (1 + 16 + 260) / 1000.0);  // one block of conv1 and conv2 each
}

TEST_CASE("a target in weights or multiply-accumulates is a share of what the layers have") {
  EvolutionConfig config;
  config.target_kept = 100;  // of 1000, whatever the target's share says
  CHECK(LayerBudget(config, kLayers).target_density() == 0.1);
  config.exclude = {"fc"};
  CHECK(LayerBudget(config, kLayers).target_density() == doctest::Approx(100 / 480.0));
  config.budget = Budget::macs;
  const LayerBudget macs(config, kLayers);
  CHECK(macs.cost_at(macs.target_density()) == doctest::Approx(100.0));
  CHECK(macs.cost(std::vector<std::int64_t>{2, 1, 520}) == doctest::Approx(110.0));
  config.target_kept = 8800;
  CHECK(message_of([&] { LayerBudget(config, kLayers); }) ==
        "target_kept: 8800 are reached without pruning: the network has 8800");
}

TEST_CASE("a budget refuses unknown and repeated names with a suggestion") {
  EvolutionConfig config;
  const auto message = [&] { return message_of([&] { LayerBudget(config, kLayers); }); };

  config.exclude = {"conv3"};
  CHECK(error_of([&] { LayerBudget(config, kLayers); }) == ErrorCode::usage);
  CHECK(message() == "exclude: no prunable layer 'conv3'; did you mean 'conv1'?");
  config.exclude = {"conv1", "conv2", "fc"};
  CHECK(message().find("exclude: no prunable layer is left") == 0);
  config.exclude = {};
  config.layer_limits = {{"fc", 0.0, 0.5}, {"fc", 0.1, 0.5}};
  CHECK(message() == "layer_limits: 'fc' twice");
  config.layer_limits = {{"x\ny", 0.0, 0.5}};
  CHECK(message().find('\n') == std::string::npos);
}

TEST_CASE("patterns name layers by their whole names, and names come before patterns") {
  EvolutionConfig config;
  config.exclude = {"/conv./"};
  config.layer_limits = {{"/.*/", 0.1, 0.5}, {"fc", 0.2, 0.6}};
  const LayerBudget budget(config, kLayers);
  CHECK((budget.range(0).excluded && budget.range(1).excluded && !budget.range(2).excluded));
  CHECK((budget.range(2).min == 0.2 && budget.range(2).max == 0.6));

  std::vector<PrunableLayer> layers = kLayers;
  layers[2].name = "/conv./";
  config.layer_limits.clear();
  const LayerBudget literal(config, layers);
  CHECK((!literal.range(0).excluded && literal.range(2).excluded));
}

TEST_CASE("patterns that are none, match nothing or overlap are refused") {
  EvolutionConfig config;
  const auto message = [&] { return message_of([&] { LayerBudget(config, kLayers); }); };
  config.exclude = {"/onv1/"};
  CHECK(message() ==
        "exclude: '/onv1/' matches the whole name of no prunable layer; did you mean 'conv1'?");
  config.exclude = {"/conv(/"};
  CHECK(message().find("exclude: found '/conv(/', expected a regular expression") == 0);
  CHECK(message_of([&] { check_config(config); }) == message());
  config.exclude = {};
  config.layer_limits = {{"/conv./", 0.0, 0.5}, {"/.*2/", 0.0, 0.6}};
  CHECK(message() == "layer_limits: layer 'conv2' is matched by '/conv./' and by '/.*2/'");
}

TEST_CASE("masks given at the start bind an excluded layer and must fit the limits") {
  EvolutionConfig config;
  std::vector<PrunableLayer> layers = kLayers;
  layers[0].initial_sparsity = 0.7;
  config.exclude = {"conv1"};
  const LayerBudget budget(config, layers);
  CHECK((budget.range(0).min == 0.7 && budget.range(0).max == 0.7));
  config.exclude = {};
  config.layer_limits = {{"conv1", 0.0, 0.5}};
  CHECK(message_of([&] { LayerBudget(config, layers); }) ==
        "masks: layer 'conv1' begins with sparsity 0.7, but its limit is 0.5 (max_layer_sparsity, "
        "layer_limits)");
}

TEST_CASE("a budget refuses layers whose numbers contradict each other") {
  const auto refused = [](const PrunableLayer& layer) {
    return error_of([&] { LayerBudget(EvolutionConfig{}, {layer}); }) == ErrorCode::usage;
  };
  CHECK(!refused({"a", 10, 4, 38, 1.0}));
  CHECK(refused({"a", 0, 4, 0, 1.0}));
  CHECK(refused({"a", 10, 4, 41, 1.0}));
  CHECK(refused({"a", 10, 4, 9, 1.0}));
  CHECK(refused({"a", 10, 1, 10, 0.0}));
  for (const std::int64_t rows : {0, 3, 5}) {
    CHECK(refused({.name = "a", .blocks = 10, .weights = 10, .balanced_rows = rows}) ==
          (rows != 5));
  }
  CHECK(error_of([] { LayerBudget(EvolutionConfig{}, {}); }) == ErrorCode::usage);
}

}  // namespace
}  // namespace winnow
