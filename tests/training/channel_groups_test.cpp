#include "prune/training/channels/channel_groups.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

#include "runtime/base/random.h"

namespace winnow {
namespace {

std::vector<std::int64_t> unchanged(std::int64_t channels) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(channels));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  return order;
}

bool is_permutation(std::vector<std::int64_t> order) {
  std::sort(order.begin(), order.end());
  return order == unchanged(std::ssize(order));
}

// Channel c has weights at the places p with p % kinds == c % kinds alone.
ComputedChannels striped(std::int64_t channels, std::int64_t places, std::int64_t kinds) {
  ComputedChannels layer{{}, 1.0 / static_cast<double>(kinds)};
  for (std::int64_t c = 0; c < channels; ++c) {
    for (std::int64_t p = 0; p < places; ++p) {
      layer.squares.push_back(p % kinds == c % kinds ? 1.0f : 0.0f);
    }
  }
  return layer;
}

ComputedChannels random_layer(std::int64_t channels, Random& random) {
  ComputedChannels layer{{}, random.uniform(0.05, 0.6)};
  const std::int64_t places = 1 + static_cast<std::int64_t>(random.below(40));
  for (std::int64_t i = 0; i < channels * places; ++i) {
    const double weight = random.normal();
    layer.squares.push_back(static_cast<float>(weight * weight));
  }
  return layer;
}

}  // namespace

TEST_CASE("a share is that of the largest blocks") {
  // Blocks of two channels: {1 + 3, 0 + 4} and {5 + 1, 1 + 1}.
  const ComputedChannels layer{{1, 0, 3, 4, 5, 1, 1, 1}, 0.5};
  CHECK(kept_share(layer, unchanged(4), 2) == doctest::Approx((6.0 + 4.0) / 16.0));
  const std::vector<std::int64_t> order = {0, 2, 1, 3};  // {1 + 5, 0 + 1}, {3 + 1, 4 + 1}
  CHECK(kept_share(layer, order, 2) == doctest::Approx((6.0 + 5.0) / 16.0));
}

TEST_CASE("channels that use the same places come together") {
  for (const std::int64_t kinds : {2, 3, 4}) {
    CAPTURE(kinds);
    const ComputedChannels layer = striped(8 * kinds, 12, kinds);
    const std::vector<std::int64_t> order = grouped_order({&layer, 1}, 8 * kinds, 8);
    CHECK(is_permutation(order));
    CHECK(kept_share(layer, order, 8) > kept_share(layer, unchanged(8 * kinds), 8));
    if (kinds == 2) CHECK(kept_share(layer, order, 8) == doctest::Approx(1.0));
  }
}

TEST_CASE("an order keeps no less than the old one, whatever the sizes") {
  Random random(5);
  for (int i = 0; i < 60; ++i) {
    CAPTURE(i);
    const std::int64_t channels = 1 + static_cast<std::int64_t>(random.below(50));
    const std::int64_t vector = std::int64_t{8} << random.below(3);
    std::vector<ComputedChannels> layers;
    for (std::uint64_t l = 0; l <= random.below(3); ++l) {
      layers.push_back(random_layer(channels, random));
    }
    const std::vector<std::int64_t> order = grouped_order(layers, channels, vector);
    REQUIRE(is_permutation(order));
    double before = 0.0, after = 0.0;
    for (const ComputedChannels& layer : layers) {
      before += kept_share(layer, unchanged(channels), vector);
      after += kept_share(layer, order, vector);
    }
    CHECK(after >= before - 1e-9);
    CHECK(order == grouped_order(layers, channels, vector));
    if (channels <= vector) CHECK(order == unchanged(channels));
  }
}

TEST_CASE("a layer of zeros asks for nothing") {
  const ComputedChannels zeros{std::vector<float>(32 * 3, 0.0f), 0.5};
  CHECK(grouped_order({&zeros, 1}, 32, 8) == unchanged(32));
  CHECK(kept_share(zeros, unchanged(32), 8) == 1.0);
}

}  // namespace winnow
