// A budget of time that counts whole channels.
#include "prune/evolution/budget/channel_time.h"

#include <doctest/doctest.h>

#include <cmath>
#include <memory>

#include "prune/evolution/budget/allocation.h"
#include "prune/evolution/budget/channel_allocation.h"
#include "prune/evolution/population/operators.h"
#include "tests/evolution/random_channels.h"
#include "tests/evolution/random_time.h"
#include "tests/throws.h"

namespace winnow {
namespace {

const std::vector<std::int64_t> kChannels = {3, 8, 16, 4};

// layer1 is the one with two dimensions of channels; it is flat from 4 to 8 inputs.
TimeModel three_layers() {
  const auto layer = [](const char* name, std::vector<std::int64_t> outputs,
                        std::vector<std::int64_t> inputs, std::vector<double> ms) {
    LayerChannelTimes times;
    times.name = name;
    times.weights = outputs.back() * inputs.back();
    times.outputs = std::move(outputs);
    times.inputs = std::move(inputs);
    times.ms = std::move(ms);
    return times;
  };
  TimeModel time;
  time.vector = 0;
  time.dense_ms = 19.0;
  time.constant_ms = 1.0;
  time.scale = 2.0;
  time.channels = {layer("layer0", {4, 8}, {3}, {1.0, 2.0}),
                   layer("layer1", {8, 16}, {2, 4, 8}, {1.0, 2.0, 2.0, 2.0, 4.0, 4.0}),
                   layer("layer2", {4}, {8, 16}, {2.0, 3.0})};
  return time;
}

// Kept weights of units that keep so many channels.
std::vector<std::int64_t> kept(std::int64_t first, std::int64_t second) {
  return {first * 3, second * 8};
}

MagnitudeCurve even_curve(std::int64_t blocks, double size) {
  MagnitudeCurve curve;
  for (std::int64_t rank = 0; rank < blocks; ++rank) {
    const double magnitude = size * (1.0 - static_cast<double>(rank) / static_cast<double>(blocks));
    curve.ranks.push_back(rank);
    curve.magnitudes.push_back(magnitude);
    curve.squares.push_back(magnitude * magnitude +
                            (curve.squares.empty() ? 0.0 : curve.squares.back()));
  }
  return curve;
}

// A channel that means much, and others that mean little.
MagnitudeCurve one_large(std::int64_t blocks) {
  MagnitudeCurve curve = even_curve(blocks, 0.01);
  curve.magnitudes[0] = 1.0;
  for (double& square : curve.squares) square += 1.0;
  return curve;
}

}  // namespace

TEST_CASE("layers take the time of the outputs and inputs that their units keep") {
  const ChannelTime time(three_layers(), chain_of(kChannels));
  CHECK(time.at(kept(8, 16)) == doctest::Approx(2 * (2 + 4 + 3.0)));
  CHECK(time.at(kept(4, 8)) == doctest::Approx(2 * (1 + 2 + 2.0)));
  CHECK(time.at(kept(6, 12)) == doctest::Approx(2 * (1.5 + 3 + 2.5)));  // between
  CHECK(time.at(kept(3, 12)) == doctest::Approx(2 * (1 + 2.25 + 2.5)));
  CHECK(time.at(kept(1, 1)) == doctest::Approx(2 * (1 + 1 + 2.0)));  // below the least
  CHECK(time.of_unit(0, kept(4, 8)) == doctest::Approx(2 * (1 + 2.0)));
  CHECK(time.of_unit(1, kept(4, 8)) == doctest::Approx(2 * (2 + 2.0)));
  CHECK(time.share_layers(0, 1));
  CHECK(time.of_fixed({true, false}, kept(4, 8)) == doctest::Approx(2 * 1.0));
  CHECK(time.of_fixed({false, false}, kept(4, 8)) == 0.0);
  // Straight from 2 to 8 inputs.
  CHECK(time.convex_at(kept(5, 8)) == doctest::Approx(2 * (1.25 + 1.5 + 2)));
  CHECK(time.convex_at(kept(8, 16)) == doctest::Approx(time.at(kept(8, 16))));
}

TEST_CASE("layers of a table that were removed from the network take no time") {
  TimeModel time = three_layers();
  LayerChannelTimes gone = time.channels[0];
  gone.name = "gone";
  time.channels.insert(time.channels.begin(), gone);
  time.has_removed_layers = true;
  const std::vector<PrunableLayer> units = chain_of(kChannels);
  CHECK(ChannelTime(without_removed(time, units), units).at(kept(8, 16)) ==
        doctest::Approx(2 * (2 + 4 + 3.0)));
}

TEST_CASE("times of channels must be those of the network's layers") {
  const auto refusal = [](TimeModel time) {
    const auto make = [&] { ChannelTime(time, chain_of(kChannels)); };
    CHECK(error_of(make) == ErrorCode::usage);
    return message_of(make);
  };
  TimeModel time = three_layers();
  time.channels[1].name = "layer11";
  CHECK(refusal(time).find("time_table: no layer 'layer1' of the network; did you mean") == 0);
  time = three_layers();
  time.channels[1].outputs.back() = 17;
  CHECK(refusal(time) ==
        "time_table: layer 'layer1' has 17 output channels there, 16 in the network");
  time = three_layers();
  time.channels[2].inputs.back() = 20;
  CHECK(refusal(time).find("20 input channels there, 16 in") != std::string::npos);
  time = three_layers();
  time.channels[2].weights = 63;
  CHECK(refusal(time).find("63 weights there, 64 in the network") != std::string::npos);
}

TEST_CASE("a budget of time counts channels, and what no unit is part of is a constant") {
  EvolutionConfig config = time_config(three_layers(), 19.0 / 12.0);
  const LayerBudget budget(config, chain_of(kChannels));
  CHECK(budget.is_time_of_channels());
  CHECK(budget.cost(kept(8, 16)) == doctest::Approx(19.0));
  CHECK(budget.cost(kept(4, 8)) == doctest::Approx(11.0));
  CHECK(budget.goal_density() == doctest::Approx(12.0 / 19));
  CHECK(budget.reachable_density() == doctest::Approx(9.0 / 19));
  CHECK(budget.weight_density(kept(4, 8)) == doctest::Approx((12 + 32 + 32) / (24 + 128 + 64.0)));
  // Flat: layer0 up to 4 outputs, layer1 up to 2 inputs, layer2 up to 8 inputs.
  const std::vector<double> densest = budget.densest({0.5, 0.5});
  CHECK(densest == std::vector<double>{0.5, 0.5});
  CHECK(budget.densest({0.875, 0.75}) == std::vector<double>{0.75, 0.5});
  config.exclude = {"layer1"};
  const LayerBudget excluding(config, chain_of(kChannels));
  CHECK(excluding.cost(kept(4, 16)) == doctest::Approx(1 + 2 * (1 + 4 + 3.0)));
  CHECK(excluding.reachable_density() == doctest::Approx(13.0 / 19));
}

TEST_CASE("the allocation of channels by time takes first what costs most and means least") {
  const LayerBudget budget(time_config(three_layers(), 19.0 / 12.0), chain_of(kChannels));
  const auto allocated = [&](const MagnitudeCurve& first, const MagnitudeCurve& second) {
    const std::vector<MagnitudeCurve> curves = {first, second};
    const auto sparsities = least_loss_of_channels(budget.goal_density(), budget, curves);
    CHECK(budget.planned_density(sparsities) <= budget.goal_density());
    return sparsities;
  };
  const auto first = allocated(one_large(8), even_curve(16, 1.0));
  CHECK(first[0] >= 0.75);
  CHECK(first[1] < 0.5);
  const auto second = allocated(even_curve(8, 1.0), one_large(16));
  CHECK(second[0] < 0.5);
  CHECK(second[1] >= 0.5);
  // How large the weights of a layer are says nothing: shares of it count.
  CHECK(allocated(even_curve(8, 0.01), even_curve(16, 1.0)) ==
        allocated(even_curve(8, 5.0), even_curve(16, 1.0)));
}

TEST_CASE("random times of channels: more channels never take less, and costs meet the goal") {
  Random random(23);
  for (int round = 0; round < 100; ++round) {
    CAPTURE(round);
    std::vector<std::int64_t> channels = {random.between(1, 4)};
    for (std::int64_t i = random.between(2, 5); i > 0; --i)
      channels.push_back(random.between(1, 70));
    const std::vector<PrunableLayer> units = chain_of(channels);
    const TimeModel time = random_channel_time(channels, random);
    const double least = ChannelTime(time, units).at(std::vector<std::int64_t>(units.size(), 0));
    const double speedup = random.uniform(1.05, 3.0);
    if (time.dense_ms / speedup <= time.constant_ms + least) continue;
    if (least + time.constant_ms > 0.98 * time.dense_ms) continue;
    const LayerBudget budget(time_config(time, speedup), units);
    const ChannelTime of_channels(time, units);
    std::vector<MagnitudeCurve> curves;
    for (const PrunableLayer& unit : units) {
      curves.push_back(even_curve(unit.blocks, random.uniform(0.1, 2.0)));
    }
    for (int draw = 0; draw < 10; ++draw) {
      std::vector<std::int64_t> less, more;
      std::vector<double> sparsities;
      for (const PrunableLayer& unit : units) {
        const std::int64_t blocks = random.between(1, unit.blocks);
        more.push_back(blocks * unit.weights_per_block);
        less.push_back(random.between(1, blocks) * unit.weights_per_block);
        sparsities.push_back(random.uniform(0.0, 0.99));
      }
      CHECK(of_channels.at(less) <= of_channels.at(more) + 1e-12);
      CHECK(of_channels.convex_at(less) <= of_channels.convex_at(more) + 1e-12);
      CHECK(of_channels.convex_at(more) <= of_channels.at(more) + 1e-12);
      CHECK((budget.density(more) <= budget.goal_density()) ==
            (budget.cost(more) / budget.cost_at(1.0) <= budget.goal_density()));
      const std::vector<double> densest = budget.densest(sparsities);
      CHECK(budget.planned_density(densest) <= budget.planned_density(sparsities) + 1e-9);
      for (std::size_t i = 0; i < densest.size(); ++i) CHECK(densest[i] <= sparsities[i]);
    }
    for (const Allocation kind : {Allocation::uniform, Allocation::erk, Allocation::global,
                                  Allocation::lamp, Allocation::least_loss}) {
      CAPTURE(static_cast<int>(kind));
      for (const double share : {0.0, random.uniform()}) {
        const double wanted = budget.goal_density() + share * (1.0 - budget.goal_density());
        CHECK(budget.planned_density(allocate(kind, wanted, budget, curves)) <= wanted);
      }
    }
    const std::vector<double> start(units.size(), 0.1);
    CHECK(budget.planned_density(with_density(start, budget.goal_density(), budget)) <=
          budget.goal_density());
  }
}

}  // namespace winnow
