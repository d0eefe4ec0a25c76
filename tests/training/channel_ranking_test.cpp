// Channels of all layers together against the plain loops of one layer after the other.
#include "prune/training/masks/channel_ranking.h"

#include <algorithm>
#include <limits>

#include "prune/training/device.h"
#include "prune/training/masks/mask_selection.h"
#include "prune/training/masks/pruning_masks.h"
#include "tests/model/graphs.h"
#include "tests/training/torch_doctest.h"

namespace winnow {
namespace {

// a and c meet in the add and compute the same channels; b is between them.
Graph residual() {
  return graph_of({2, 6, 6}, {{"a", conv(2, 7, 3, 1), {"input"}},
                              {"relu", Relu{}, {"a"}},
                              {"b", conv(7, 5, 1), {"relu"}},
                              {"c", conv(5, 7, 3, 1), {"b"}},
                              {"sum", Add{}, {"relu", "c"}},
                              {"pool", GlobalPool{}, {"sum"}},
                              {"fc", Linear{7, 3, true}, {"pool"}}});
}

// Random filters of its layers, of which every weight is the network's or a dropped one.
struct Layers {
  ChannelUnits units = channel_units(residual());
  torch::Tensor kept = torch::ones({units.channels}, torch::kByte);
  std::vector<RankedFilters> filters;

  Layers() {
    torch::manual_seed(11);
    for (const std::int64_t dropped : {1, 4, 8, 9}) kept[dropped] = 0;
    for (const ChannelNode& node : units.nodes) {
      if (!node.inputs.empty()) add(node, node.outputs.size() == 7 ? 0 : 1);
    }
  }

  void add(const ChannelNode& node, std::size_t unit) {
    const auto numbers = [&](std::vector<std::int64_t> channels) {
      std::replace(channels.begin(), channels.end(), ChannelNode::kFixed, units.channels);
      return torch::tensor(channels, torch::kLong);
    };
    const torch::Tensor outputs = numbers(node.outputs), inputs = numbers(node.inputs);
    const torch::Tensor all = with_fixed(kept);
    const torch::Tensor is_kept = (all.index_select(0, outputs).view({-1, 1, 1, 1}) *
                                   all.index_select(0, inputs).view({1, -1, 1, 1}));
    const torch::Tensor weight =
        torch::randn({outputs.numel(), inputs.numel(), 3, 3}) * (unit == 0 ? 0.1 : 5.0);
    filters.push_back({.value = weight * is_kept,
                       .dropped = weight * (1 - is_kept),
                       .gradient_sum = torch::randn_like(weight),
                       .outputs = outputs,
                       .inputs = inputs,
                       .unit = unit});
  }
};

// Of each filter's weights that read kept channels the mean, of each channel that of its layers.
std::vector<double> plain_importance(const Layers& layers, double alpha) {
  const auto channels = static_cast<std::size_t>(layers.units.channels);
  std::vector<double> sums(channels + 1, 0.0), counts(channels + 1, 0.0);
  for (const RankedFilters& layer : layers.filters) {
    const torch::Tensor blocks = block_importance(layer.value, layer.gradient_sum, 1, alpha);
    std::int64_t inputs = 0;
    for (std::int64_t c = 0; c < layer.inputs.numel(); ++c) {
      const auto channel = layer.inputs[c].item<std::int64_t>();
      inputs += channel == layers.units.channels || layers.kept[channel].item<bool>() ? 1 : 0;
    }
    for (std::int64_t k = 0; k < layer.outputs.numel(); ++k) {
      const auto channel = static_cast<std::size_t>(layer.outputs[k].item<std::int64_t>());
      sums[channel] += blocks[k].sum().item<double>() / static_cast<double>(9 * inputs);
      counts[channel] += 1.0;
    }
  }
  for (std::size_t c = 0; c < channels; ++c) sums[c] /= counts[c];
  sums.pop_back();
  return sums;
}

TEST_CASE("importance of channels is the mean of the layers that compute them") {
  const Layers layers;
  REQUIRE(layers.units.layers.size() == 2);
  REQUIRE(layers.filters.size() == 4);
  const ChannelRanking ranking(layers.units, layers.filters);
  for (const double alpha : {0.0, 0.3}) {
    CAPTURE(alpha);
    const std::vector<double> alphas(2, alpha);
    const torch::Tensor found = ranking.importance(layers.kept, alphas);
    const std::vector<double> wanted = plain_importance(layers, alpha);
    for (std::size_t c = 0; c < wanted.size(); ++c) {
      const auto channel = static_cast<std::int64_t>(c);
      if (alpha == 0.0 && !layers.kept[channel].item<bool>()) CHECK(wanted[c] == 0.0);
      CHECK(found[channel].item<double>() == doctest::Approx(wanted[c]).epsilon(1e-5));
    }
  }
  CHECK(torch::equal(ranking.importance(layers.kept, {}),
                     ranking.importance(layers.kept, std::vector<double>(2, 0.0))));
}

TEST_CASE("channels that are dropped rank behind all others, by what they were") {
  const Layers layers;
  const ChannelRanking ranking(layers.units, layers.filters);
  const torch::Tensor found = ranking.ranking(layers.kept, {});
  for (std::int64_t c = 0; c < layers.units.channels; ++c) {
    CHECK((found[c].item<double>() < 0.0) == !layers.kept[c].item<bool>());
  }
}

TEST_CASE("the top channels of all units are those of each") {
  const Layers layers;
  const ChannelRanking ranking(layers.units, layers.filters);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  torch::manual_seed(3);
  for (int round = 0; round < 50; ++round) {
    // Few values, so that many are equal, and now and then no number.
    torch::Tensor order = torch::randint(-3, 3, {layers.units.channels}).to(torch::kDouble);
    if (round % 3 == 0) order[round % layers.units.channels] = nan;
    const torch::Tensor sparsities = torch::rand({2}, torch::kDouble);
    std::vector<torch::Tensor> wanted;
    std::vector<double> each;
    for (std::int64_t u = 0; u < 2; ++u) {
      const auto unit = static_cast<std::size_t>(u);
      each.push_back(sparsities[u].item<double>());
      wanted.push_back(
          top_blocks(order.narrow(0, layers.units.first[unit], layers.units.layers[unit].blocks),
                     each.back()));
    }
    CHECK(torch::equal(ranking.top_channels(order, each), torch::cat(wanted)));
  }
}

TEST_CASE("channels rank on a GPU as on the CPU") {
  const torch::Device device = resolve_device("auto");
  if (device.is_cpu()) {
    MESSAGE("skipped: no GPU");
    return;
  }
  Layers layers;
  const ChannelRanking here(layers.units, layers.filters);
  for (RankedFilters& layer : layers.filters) {
    for (torch::Tensor* tensor :
         {&layer.value, &layer.dropped, &layer.gradient_sum, &layer.outputs, &layer.inputs}) {
      *tensor = tensor->to(device);
    }
  }
  const ChannelRanking there(layers.units, layers.filters);
  const torch::Tensor kept = layers.kept.to(device);
  for (const double alpha : {0.0, 0.3}) {
    CAPTURE(alpha);
    const std::vector<double> alphas(2, alpha), sparsities = {0.4, 0.6};
    const torch::Tensor wanted = here.ranking(layers.kept, alphas);
    const torch::Tensor found = there.ranking(kept, alphas);
    CHECK(torch::allclose(found.cpu(), wanted, 1e-5, 0.0));
    const torch::Tensor top = here.top_channels(wanted, sparsities);
    CHECK(torch::equal(there.top_channels(found, sparsities).cpu(), top));
    CHECK(torch::equal(there.counts(kept, top.to(device)).cpu(), here.counts(layers.kept, top)));
  }
}

TEST_CASE("what enters, leaves and stays is counted by unit") {
  const Layers layers;
  const ChannelRanking ranking(layers.units, layers.filters);
  torch::Tensor now = layers.kept.clone();
  for (const std::int64_t entered : {1, 8}) now[entered] = 1;
  now[0] = 0;
  const std::vector<Migration> found = to_migrations(ranking.counts(layers.kept, now));
  const std::int64_t of_a = 2 * 9 + 5 * 9, of_b = 7;
  REQUIRE(found.size() == 2);
  CHECK(found[0].entered == 1);
  CHECK(found[0].left == 1);
  CHECK(found[0].kept == 5);
  CHECK(found[0].kept_weights == 5 * of_a);
  CHECK(found[1].entered == 1);
  CHECK(found[1].left == 0);
  CHECK(found[1].kept == 4);
  CHECK(found[1].kept_weights == 4 * of_b);
}

}  // namespace
}  // namespace winnow
