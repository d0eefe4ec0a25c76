// Eqs 2 to 4 in LibTorch against the plain loops of prune/evolution/trainee/importance.h.
#include "prune/training/masks/mask_selection.h"

#include "prune/evolution/trainee/importance.h"
#include "prune/training/masks/layer_curves.h"
#include "prune/training/tensor_bridge.h"
#include "tests/training/torch_doctest.h"

namespace winnow {
namespace {

std::span<const float> floats(const torch::Tensor& tensor) {
  return {tensor.const_data_ptr<float>(), static_cast<std::size_t>(tensor.numel())};
}

TEST_CASE("importance of a worked example") {
  const torch::Tensor weight = torch::tensor({{1.0f, -3.0f}, {0.0f, 4.0f}});    // mean of kept 8/3
  const torch::Tensor gradient = torch::tensor({{-1.0f, 0.0f}, {2.0f, 1.0f}});  // of kept 2/3
  const torch::Tensor wanted = torch::tensor({{0.65625f, 0.84375f}, {0.75f, 1.5f}});  // alpha 1/4
  CHECK(torch::allclose(block_importance(weight, gradient, 1, 0.25), wanted));
  const torch::Tensor pairs = torch::tensor({{0.703125f, 1.171875f}});  // means over both channels
  CHECK(torch::allclose(block_importance(weight, gradient, 8, 0.25), pairs));
}

TEST_CASE("magnitudes choose the masks that importance without gradients does") {
  torch::manual_seed(5);
  for (const std::int64_t vector : {1, 8, 16}) {
    const torch::Tensor weight = torch::randn({21, 5, 3, 3});
    const torch::Tensor found = block_magnitudes(weight, vector);
    const torch::Tensor wanted = block_importance(weight, {}, vector, 0.0);
    CHECK(found.sizes() == wanted.sizes());
    for (const double sparsity : {0.1, 0.5, 0.95}) {
      CHECK(torch::equal(top_blocks(found, sparsity), top_blocks(wanted, sparsity)));
    }
  }
  const torch::Tensor pairs = torch::tensor({{1.0f, -3.0f}, {0.0f, 4.0f}});
  CHECK(torch::equal(block_magnitudes(pairs, 1), pairs.abs()));
  CHECK(torch::equal(block_magnitudes(pairs, 2), torch::tensor({{0.5f, 3.5f}})));
}

TEST_CASE("importance and masks equal the plain loops over ragged shapes") {
  torch::manual_seed(4);
  struct Sizes {
    std::int64_t channels, inputs;
  };
  for (const Sizes& size : {Sizes{7, 5}, {16, 9}, {33, 27}, {1, 1}, {40, 50}}) {
    for (const std::int64_t vector : {1, 8, 16}) {
      for (const double sparsity : {0.0, 0.3, 0.9, 0.999}) {
        CAPTURE(size.channels);
        CAPTURE(vector);
        const torch::Tensor weight = torch::randn({size.channels, size.inputs}) *
                                     (torch::rand({size.channels, size.inputs}) > 0.4);
        const torch::Tensor gradient = torch::randn({size.channels, size.inputs});
        const BlockLayout layout{size.channels, size.inputs, vector};
        const auto wanted = block_importance(floats(weight), floats(gradient), layout, 0.3);
        const torch::Tensor found = block_importance(weight, gradient, vector, 0.3);
        REQUIRE(found.numel() == static_cast<std::int64_t>(wanted.size()));
        const torch::Tensor reference = torch::tensor(wanted).view(found.sizes());
        CHECK(torch::allclose(found, reference, 1e-6, 0));

        const auto wanted_mask = top_blocks(std::span<const float>(wanted), sparsity);
        const Tensor mask = to_host(top_blocks(reference, sparsity));
        const auto values = mask.values<std::uint8_t>();
        CHECK(std::equal(values.begin(), values.end(), wanted_mask.begin(), wanted_mask.end()));

        const auto balanced = top_blocks_of_rows(wanted, layout.groups(), sparsity);
        const Tensor found_rows = to_host(top_blocks_of_rows(reference, sparsity));
        const auto rows = found_rows.values<std::uint8_t>();
        CHECK(std::equal(rows.begin(), rows.end(), balanced.begin(), balanced.end()));
      }
    }
  }
}

TEST_CASE("of equal blocks the lower index stays, and not-a-number goes first") {
  const torch::Tensor equal = torch::ones({6});
  CHECK(torch::equal(top_blocks(equal, 0.5), torch::tensor({1, 1, 1, 0, 0, 0}, torch::kByte)));
  const torch::Tensor odd = torch::tensor({NAN, 0.0f, 2.0f, 0.0f});
  CHECK(torch::equal(top_blocks(odd, 0.5), torch::tensor({0, 1, 1, 0}, torch::kByte)));
}

TEST_CASE("importance does not depend on strides, and a weight's mask keeps them") {
  const torch::Tensor weight = torch::randn({6, 4, 3, 3});
  const torch::Tensor last = weight.contiguous(torch::MemoryFormat::ChannelsLast);
  CHECK(torch::equal(block_importance(weight, {}, 4, 0.5), block_importance(last, {}, 4, 0.5)));
  const torch::Tensor blocks = top_blocks(block_importance(weight, {}, 4, 0.5), 0.5);
  REQUIRE(blocks.sizes() == torch::IntArrayRef({2, 4, 3, 3}));
  const torch::Tensor mask = weight_mask(blocks, last, 4);
  CHECK(mask.strides() == last.strides());
  for (int k = 0; k < 6; ++k) CHECK(torch::equal(mask[k].to(torch::kByte), blocks[k / 4]));
}

TEST_CASE("a magnitude curve has the largest blocks first, and sums their squares") {
  const torch::Tensor weight =
      torch::tensor({{1.0f, -3.0f, 0.0f}, {2.0f, 4.0f, 5.0f}, {6.0f, 0.0f, 0.5f}});
  const std::vector<MagnitudeCurve> curves = magnitude_curves(
      std::vector<WeightBlocks>{{weight, 1}, {weight, 2}, {torch::randn({100, 1000}), 1}});
  REQUIRE(curves.size() == 3);
  const MagnitudeCurve &single = curves[0], &pairs = curves[1], &large = curves[2];
  CHECK(single.ranks.size() == 9);
  CHECK(single.magnitudes == std::vector<double>{6, 5, 4, 3, 2, 1, 0.5, 0, 0});
  CHECK(single.squares[2] == 77.0);
  CHECK(single.squares[8] == 91.25);
  CHECK(pairs.magnitudes ==
        std::vector<double>{6, 3.5, 2.5, 1.5, 0.5, 0});  // the last group is one channel
  CHECK(large.ranks.back() == 99'999);
  CHECK(large.magnitudes.size() == large.ranks.size());
  CHECK(std::is_sorted(large.magnitudes.rbegin(), large.magnitudes.rend()));
  CHECK(magnitude_curves({}).empty());
}

TEST_CASE("a layer of zeros and gradients of zeros have importance 0") {
  const torch::Tensor zero = torch::zeros({2, 2});
  CHECK(torch::equal(block_importance(zero, zero, 1, 0.5), zero));
}

}  // namespace
}  // namespace winnow
