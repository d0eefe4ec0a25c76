// Curves of magnitudes that kernels read on a GPU against those of LibTorch's operations.
#include <cmath>
#include <limits>

#include "prune/training/masks/layer_curves.h"
#include "prune/training/masks/mask_update.h"
#include "runtime/base/random.h"
#include "tests/training/kernels_here.h"
#include "tests/training/masked_layers.h"
#include "tests/training/torch_doctest.h"

namespace winnow {
namespace {

constexpr std::int64_t kVectors[] = {1, 8, 16, 32};

// Of one weight up to several chunks; distinct, with ties, mostly or all zeros.
MaskedLayer some_layer(Random& random) {
  const auto size = [&](std::uint64_t most) {
    return 1 + static_cast<std::int64_t>(random.below(most));
  };
  torch::Tensor weight = torch::randn({size(100), size(400), size(3), 1}, torch::kCUDA);
  const std::uint64_t kind = random.below(5);
  if (kind == 0) weight = weight.round();
  if (kind == 1) weight = weight * (torch::rand_like(weight) > 0.98);
  if (kind == 2) weight.zero_();
  if (random.below(2) == 0) weight = weight.contiguous(torch::MemoryFormat::ChannelsLast);
  return layer_of(weight, kVectors[random.below(4)]);
}

bool is_close(double found, double expected, double error) {
  return std::abs(found - expected) <= error * std::abs(expected);
}

void check_curve(const MagnitudeCurve& found, const MagnitudeCurve& expected, std::int64_t vector) {
  REQUIRE(found.ranks == expected.ranks);
  REQUIRE(found.magnitudes.size() == expected.ranks.size());
  REQUIRE(found.squares.size() == expected.ranks.size());
  if (vector == 1) REQUIRE(found.magnitudes == expected.magnitudes);
  for (std::size_t i = 0; i < found.ranks.size(); ++i) {
    CAPTURE(found.ranks[i]);
    REQUIRE(is_close(found.magnitudes[i], expected.magnitudes[i], 2.5e-7));
    REQUIRE(is_close(found.squares[i], expected.squares[i], vector == 1 ? 1e-12 : 5e-7));
  }
}

// The curves are what the kernels read, bit by bit, and so not LibTorch's.
void check_source(const MaskKernels& kernels, const std::vector<MaskedLayer>& layers,
                  const std::vector<MagnitudeCurve>& curves) {
  if (layers.empty()) return;
  const auto importances = importances_of_layers(layers, {}, /*fuses_kernels=*/true);
  std::vector<Ranks> ranks;
  for (const MagnitudeCurve& curve : curves) ranks.push_back(curve.ranks);
  const torch::Tensor read = kernels.at_ranks(importances, ranks).to(torch::kCPU);
  const auto value = read.accessor<double, 2>();
  std::int64_t k = 0;
  for (const MagnitudeCurve& curve : curves) {
    double sum = 0.0;
    for (std::size_t i = 0; i < curve.ranks.size(); ++i, ++k) {
      sum += value[1][k];
      REQUIRE(curve.magnitudes[i] == value[0][k]);
      REQUIRE(curve.squares[i] == sum);
    }
  }
  REQUIRE(k == read.size(1));
}

void check_curves(const MaskKernels& kernels, const std::vector<MaskedLayer>& layers) {
  const auto found = curves_of_layers(layers, /*fuses_kernels=*/true);
  const auto again = curves_of_layers(layers, /*fuses_kernels=*/true);
  const auto expected = curves_of_layers(layers, /*fuses_kernels=*/false);
  REQUIRE(found.size() == layers.size());
  REQUIRE(expected.size() == layers.size());
  for (std::size_t i = 0; i < layers.size(); ++i) {
    CAPTURE(layers[i].weight.sizes());
    CAPTURE(layers[i].vector);
    check_curve(found[i], expected[i], layers[i].vector);
    REQUIRE(found[i].magnitudes == again[i].magnitudes);
    REQUIRE(found[i].squares == again[i].squares);
  }
  check_source(kernels, layers, found);
}

TEST_CASE("curves read by kernels are LibTorch's over random layers") {
  const MaskKernels* kernels = kernels_here(mask_kernels);
  if (!kernels) return;
  torch::manual_seed(41);
  Random random(42);
  for (int round = 0; round < 25; ++round) {
    std::vector<MaskedLayer> layers;
    const std::uint64_t count = 1 + random.below(9);
    for (std::uint64_t i = 0; i < count; ++i) layers.push_back(some_layer(random));
    check_curves(*kernels, layers);
  }
  check_curves(*kernels, {});
}

TEST_CASE("kernels read the curves of a large layer, and of one whose weights are no numbers") {
  const MaskKernels* kernels = kernels_here(mask_kernels);
  if (!kernels) return;
  torch::manual_seed(43);
  check_curves(*kernels, {layer_of(torch::randn({1030, 1024, 3, 3}, torch::kCUDA), 1),
                          layer_of(torch::randn({1030, 1024, 3, 3}, torch::kCUDA), 16)});
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  torch::Tensor weight = torch::randn({7, 9}, torch::kCUDA);
  weight[2][3] = std::nanf("");
  weight[4][5] = -kInfinity;
  const auto curves = curves_of_layers(std::vector<MaskedLayer>{layer_of(weight, 1)}, true);
  CHECK(std::isnan(curves[0].magnitudes[0]));
  CHECK(curves[0].magnitudes[1] == kInfinity);
  CHECK(std::isnan(curves[0].squares.back()));
}

TEST_CASE("kernels read values at ranks, and refuse what is none of them") {
  const MaskKernels* kernels = kernels_here(mask_kernels);
  if (!kernels) return;
  const std::vector<torch::Tensor> values = {torch::tensor({1.0f, 3.0f, 2.0f, 0.0f}).cuda(),
                                             torch::tensor({5.0f}).cuda()};
  const torch::Tensor found = kernels->at_ranks(values, std::vector<Ranks>{{0, 1, 3}, {0}});
  CHECK(torch::equal(found.cpu(),
                     torch::tensor({{3.0, 2.0, 0.0, 5.0}, {9.0, 4.0, 1.0, 25.0}}, torch::kDouble)));
  const auto refuses = [&](const std::vector<torch::Tensor>& some, std::vector<Ranks> ranks) {
    CHECK_THROWS_AS(kernels->at_ranks(some, ranks), c10::Error);
  };
  refuses(values, {{0, 4}, {0}});
  refuses(values, {{1, 2}, {0}});
  refuses(values, {{0, 2, 1}, {0}});
  refuses(values, {{0}, {}});
  refuses(values, {{0}});
  refuses({values[0].to(torch::kDouble), values[1]}, {{0}, {0}});
  refuses({values[0].cpu(), values[1]}, {{0}, {0}});
  refuses({}, {});
}

TEST_CASE("on the CPU curves are LibTorch's, whether kernels may be used or not") {
  const std::vector<MaskedLayer> layers = {
      layer_of(torch::tensor({{3.0f, -4.0f}, {0.0f, 1.0f}}), 1),
      layer_of(torch::tensor({{3.0f, -4.0f}, {1.0f, 2.0f}}), 2)};
  for (const bool fuses_kernels : {false, true}) {
    const auto curves = curves_of_layers(layers, fuses_kernels);
    REQUIRE(curves.size() == 2);
    CHECK(curves[0].magnitudes == std::vector<double>{4.0, 3.0, 1.0, 0.0});
    CHECK(curves[0].squares == std::vector<double>{16.0, 25.0, 26.0, 26.0});
    CHECK(curves[1].magnitudes == std::vector<double>{3.0, 2.0});
    CHECK(curves[1].squares == std::vector<double>{9.0, 13.0});
  }
}

}  // namespace
}  // namespace winnow
