#include "prune/evolution/trainee/importance.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "runtime/base/random.h"
#include "tests/throws.h"

namespace winnow {
namespace {

using Mask = std::vector<std::uint8_t>;

std::vector<float> random_values(std::int64_t count, Random& random) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(static_cast<float>(random.normal()));
  return values;
}

BlockLayout random_layout(Random& random) {
  return {random.between(1, 40), random.between(1, 9), std::int64_t{1} << random.between(0, 4)};
}

TEST_CASE("eq 2 mixes gradient and magnitude, each over its mean, in a worked example") {
  // Means: |w| 2, |grad| 0.5. With alpha 1/4: 0.25 |g| / 0.5 + 0.75 |w| / 2.
  const std::vector<float> weights = {1, -2, 4, 1};
  const std::vector<float> gradients = {0, -0.5f, 0.5f, 1};
  const std::vector<float> importance = block_importance(weights, gradients, {2, 2, 1}, 0.25);

  REQUIRE(importance.size() == 4);
  CHECK(importance[0] == doctest::Approx(0.375));
  CHECK(importance[1] == doctest::Approx(1.0));
  CHECK(importance[2] == doctest::Approx(1.75));
  CHECK(importance[3] == doctest::Approx(0.875));
}

TEST_CASE("alpha 0 ranks by magnitude and alpha 1 by gradient") {
  const std::vector<float> weights = {3, -2, 1};
  const std::vector<float> gradients = {0.1f, 0.2f, -0.3f};
  const BlockLayout layout = {3, 1, 1};

  CHECK(top_blocks(block_importance(weights, gradients, layout, 0.0), 2.0 / 3) == Mask{1, 0, 0});
  CHECK(top_blocks(block_importance(weights, gradients, layout, 1.0), 2.0 / 3) == Mask{0, 0, 1});
}

TEST_CASE("without gradients or with weights that are all zero the other term decides") {
  const std::vector<float> zeros = {0, 0};
  const std::vector<float> values = {1, 3};

  CHECK(block_importance(values, {}, {2, 1, 1}, 0.5) == std::vector<float>{0.25f, 0.75f});
  CHECK(block_importance(zeros, values, {2, 1, 1}, 0.5) == std::vector<float>{0.25f, 0.75f});
  CHECK(block_importance(zeros, zeros, {2, 1, 1}, 0.5) == std::vector<float>{0, 0});
}

TEST_CASE("both means are of what is kept, however many weights have neither value nor gradient") {
  // Means of the three that are kept: |w| 2, |grad| 0.5. The fourth is pruned and missed.
  std::vector<float> weights = {1, -2, 3, 0};
  std::vector<float> gradients = {0.5f, 0, -1, 2};
  const auto few = block_importance(weights, gradients, {4, 1, 1}, 0.25);
  CHECK(few == std::vector<float>{0.625f, 0.75f, 1.625f, 1.0f});

  weights.resize(400);
  gradients.resize(400);
  const auto many = block_importance(weights, gradients, {400, 1, 1}, 0.25);
  CHECK(std::equal(few.begin(), few.end(), many.begin()));
}

TEST_CASE("where no kept weight has a gradient, gradients are over the mean of all") {
  const std::vector<float> weights = {2, 0, 0};
  const std::vector<float> gradients = {0, 1, 5};
  const auto importance = block_importance(weights, gradients, {3, 1, 1}, 0.5);
  CHECK(importance == std::vector<float>{0.5f, 0.25f, 1.25f});
}

TEST_CASE("a vector's importance is the mean over the channels that exist") {
  // 3 channels, 2 inputs, vectors of 2: the second group has one channel. Mean |w| is 4.
  const std::vector<float> weights = {1, 2,  //
                                      3, 6,  //
                                      4, 8};
  const std::vector<float> importance = block_importance(weights, {}, {3, 2, 2}, 0.0);

  CHECK(importance == std::vector<float>{0.5f, 1.0f, 1.0f, 2.0f});
}

TEST_CASE("eq 3 keeps the most important and of equals the first") {
  const std::vector<float> importance = {1, 5, 5, 5, 2};

  CHECK(top_blocks(importance, 0.6) == Mask{0, 1, 1, 0, 0});
  CHECK(top_blocks(importance, 0.2) == Mask{0, 1, 1, 1, 1});
  CHECK(top_blocks(importance, 0.0) == Mask{1, 1, 1, 1, 1});
  CHECK(top_blocks({}, 0.5) == Mask{});
}

TEST_CASE("a block whose importance is no number ranks last") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> importance = {nan, 0, nan, 1};

  CHECK(top_blocks(importance, 0.5) == Mask{0, 1, 0, 1});
  CHECK(top_blocks(importance, 0.25) == Mask{1, 1, 0, 1});
}

TEST_CASE("kept blocks are rounded, halves up, and never none") {
  CHECK(kept_blocks(10, 0.0) == 10);
  CHECK(kept_blocks(10, 0.9) == 1);
  CHECK(kept_blocks(10, 0.84) == 2);
  CHECK(kept_blocks(2, 0.75) == 1);  // 0.5 blocks
  CHECK(kept_blocks(7, 0.999) == 1);
  CHECK(kept_blocks(0, 0.5) == 0);
  CHECK(kept_blocks(std::int64_t{1} << 40, 0.5) == std::int64_t{1} << 39);
}

TEST_CASE("top_blocks agrees with a full sort over random values with ties") {
  Random random(3);
  for (int round = 0; round < 200; ++round) {
    CAPTURE(round);
    std::vector<float> importance;
    for (std::int64_t i = random.between(1, 60); i > 0; --i) {
      importance.push_back(static_cast<float>(random.below(8)));
    }
    const double sparsity = random.uniform();
    std::vector<std::size_t> order(importance.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return importance[a] > importance[b]; });
    Mask expected(importance.size(), 0);
    const auto blocks = static_cast<std::int64_t>(importance.size());
    for (std::int64_t i = 0; i < kept_blocks(blocks, sparsity); ++i) {
      expected[order[static_cast<std::size_t>(i)]] = 1;
    }
    CHECK(top_blocks(importance, sparsity) == expected);
  }
}

TEST_CASE("row by row, every row keeps its most important units, and equally many") {
  const std::vector<float> importance = {9, 8, 7, 1, 2, 3, 4, 4, 0};
  CHECK(top_blocks_of_rows(importance, 3, 0.34) == Mask{1, 1, 0, 0, 1, 1, 1, 1, 0});
  CHECK(top_blocks_of_rows(importance, 3, 0.99) == Mask{1, 0, 0, 0, 0, 1, 1, 0, 0});
  CHECK(top_blocks_of_rows({}, 0, 0.5) == Mask{});
  CHECK(error_of([&] { top_blocks_of_rows(importance, 2, 0.5); }) == ErrorCode::usage);
}

TEST_CASE("a layer of balanced rows keeps as many as its masks do") {
  Random random(29);
  for (int round = 0; round < 100; ++round) {
    const std::int64_t rows = random.between(1, 20), inputs = random.between(1, 50);
    const PrunableLayer layer{.name = "a", .blocks = rows * inputs, .balanced_rows = rows};
    const std::vector<float> importance(static_cast<std::size_t>(layer.blocks), 1.0f);
    const double sparsity = random.uniform();
    const auto mask = top_blocks_of_rows(importance, rows, sparsity);
    CHECK(std::count(mask.begin(), mask.end(), 1) == kept_blocks(layer, sparsity));
  }
}

TEST_CASE("a mask over ragged layouts zeroes whole blocks and counts what it keeps") {
  Random random(4);
  for (int round = 0; round < 100; ++round) {
    CAPTURE(round);
    const BlockLayout layout = random_layout(random);
    std::vector<float> weights = random_values(layout.weights(), random);
    const Mask mask = top_blocks(block_importance(weights, {}, layout, 0.0), random.uniform());
    apply_mask(weights, mask, layout);

    const Mask all(static_cast<std::size_t>(layout.blocks()), 1);
    const Migration migration = count_migration(all, mask, layout);
    const auto zeros = std::count(weights.begin(), weights.end(), 0.0f);
    CHECK(migration.kept_weights == layout.weights() - zeros);
    CHECK(migration.entered == 0);
    CHECK(migration.left == layout.blocks() - migration.kept);
    for (std::int64_t k = 0; k < layout.channels; ++k) {
      for (std::int64_t j = 0; j < layout.inputs; ++j) {
        const auto block = static_cast<std::size_t>(k / layout.vector * layout.inputs + j);
        const auto at = static_cast<std::size_t>(k * layout.inputs + j);
        CHECK((weights[at] != 0.0f) == (mask[block] == 1));
      }
    }
  }
}

TEST_CASE("a pruned weight with a large gradient returns in the place of a small kept one") {
  std::vector<float> weights = {0, 0.1f, 2, 3};
  const std::vector<float> gradients = {4, 0, 0, 0};
  const BlockLayout layout = {4, 1, 1};
  const Mask before = {0, 1, 1, 1};
  const Mask after = top_blocks(block_importance(weights, gradients, layout, 0.3), 0.25);
  const Migration migration = count_migration(before, after, layout);
  apply_mask(weights, after, layout);

  CHECK(after == Mask{1, 0, 1, 1});
  CHECK(migration.entered == 1);
  CHECK(migration.left == 1);
  CHECK(migration.kept == 3);
  CHECK(weights == std::vector<float>{0, 0, 2, 3});
}

TEST_CASE("importance refuses what does not fit together") {
  const std::vector<float> three(3, 1.0f);
  const auto of = [&](BlockLayout layout, double alpha) {
    return error_of([&] { block_importance(three, {}, layout, alpha); });
  };

  CHECK(of({3, 1, 1}, 0.5) == std::nullopt);
  CHECK(of({2, 1, 1}, 0.5) == ErrorCode::usage);
  CHECK(of({3, 1, 0}, 0.5) == ErrorCode::usage);
  CHECK(of({3, 1, 1}, 1.5) == ErrorCode::usage);
  CHECK(of({3, 1, 1}, std::nan("")) == ErrorCode::usage);
  CHECK(error_of([&] {
          block_importance(three, std::vector<float>(2), {3, 1, 1}, 0.5);
        }) == ErrorCode::usage);
}

}  // namespace
}  // namespace winnow
