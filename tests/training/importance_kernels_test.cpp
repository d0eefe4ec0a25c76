// The importances that kernels compute on a GPU against those of LibTorch's operations.
#include "prune/training/masks/mask_kernels.h"
#include "prune/training/masks/mask_selection.h"
#include "runtime/base/random.h"
#include "tests/training/kernels_here.h"
#include "tests/training/torch_doctest.h"

namespace winnow {
namespace {

constexpr std::int64_t kVectors[] = {1, 8, 16, 32};

// Of a linear layer or a convolution, with channels last or not; some values or all are 0.
torch::Tensor some_values(torch::IntArrayRef shape, Random& random) {
  torch::Tensor values = torch::randn(shape, torch::kCUDA) * 0.01;
  const std::uint64_t kind = random.below(6);
  if (kind == 0) values.zero_();
  if (kind < 4) values = values * (torch::rand_like(values) > 0.7);
  return values;
}

std::vector<std::int64_t> some_shape(Random& random) {
  const auto size = [&](std::uint64_t most) {
    return 1 + static_cast<std::int64_t>(random.below(most));
  };
  if (random.below(3) == 0) return {size(300), size(600)};
  const std::int64_t kernel = random.below(2) == 0 ? 3 : size(5);
  return {size(100), size(80), kernel, size(3)};
}

torch::Tensor in_layout(const torch::Tensor& values, bool is_channels_last) {
  return is_channels_last && values.dim() == 4
             ? values.contiguous(torch::MemoryFormat::ChannelsLast)
             : values.contiguous();
}

RankedLayer some_layer(Random& random) {
  const auto shape = some_shape(random);
  const bool is_channels_last = random.below(2) == 0, differs = random.below(6) == 0;
  RankedLayer layer = {.weight = in_layout(some_values(shape, random), is_channels_last),
                       .vector = kVectors[random.below(4)]};
  if (random.below(4) == 0) return layer;
  layer.gradient = in_layout(some_values(shape, random), is_channels_last != differs);
  return layer;
}

// Sums in another order differ in the last bits of a double, and so some rounded results in that of
// a float: not all bits are equal.
void check_layer(const RankedLayer& layer, const torch::Tensor& found) {
  CAPTURE(layer.weight.sizes());
  CAPTURE(layer.weight.strides());
  CAPTURE(layer.vector);
  CAPTURE(layer.alpha);
  const torch::Tensor expected = layer.alpha == 0.0 ? block_magnitudes(layer.weight, layer.vector)
                                                    : block_importance(layer.weight, layer.gradient,
                                                                       layer.vector, layer.alpha);
  REQUIRE(found.sizes() == expected.sizes());
  REQUIRE(found.is_contiguous());
  REQUIRE(torch::allclose(found, expected, /*rtol=*/2.5e-7, /*atol=*/0.0));
  if (layer.alpha == 0.0 && layer.vector == 1) REQUIRE(torch::equal(found, expected));
}

// The layers' alphas are each of these, the first one of the first layer and so on, or one of all.
constexpr double kAlphas[] = {0.3, 0.0, 1.0};

void check_layers(const MaskKernels& kernels, std::vector<RankedLayer> layers, bool shares_alpha,
                  std::size_t first) {
  for (std::size_t i = 0; i < layers.size(); ++i) {
    layers[i].alpha = kAlphas[(first + (shares_alpha ? 0 : i)) % std::size(kAlphas)];
  }
  const auto found = kernels.importances(layers);
  const auto again = kernels.importances(layers);
  REQUIRE(found.size() == layers.size());
  for (std::size_t i = 0; i < layers.size(); ++i) {
    check_layer(layers[i], found[i]);
    REQUIRE(torch::equal(found[i], again[i]));
  }
}

void check_layers(const MaskKernels& kernels, const std::vector<RankedLayer>& layers) {
  for (std::size_t first = 0; first < std::size(kAlphas); ++first) {
    check_layers(kernels, layers, /*shares_alpha=*/true, first);
    check_layers(kernels, layers, /*shares_alpha=*/false, first);
  }
}

TEST_CASE("importances computed by kernels are LibTorch's over random layers") {
  const MaskKernels* kernels = kernels_here(mask_kernels);
  if (!kernels) return;
  torch::manual_seed(31);
  Random random(32);
  for (int round = 0; round < 25; ++round) {
    std::vector<RankedLayer> layers(1 + random.below(9));
    for (RankedLayer& layer : layers) layer = some_layer(random);
    check_layers(*kernels, layers);
  }
  check_layers(*kernels, {});
}

TEST_CASE("importances of a large layer, and of one that is a part of a tensor") {
  const MaskKernels* kernels = kernels_here(mask_kernels);
  if (!kernels) return;
  torch::manual_seed(33);
  const torch::Tensor all = torch::randn({1030, 1024, 3, 3}, torch::kCUDA);
  const torch::Tensor last = all.contiguous(torch::MemoryFormat::ChannelsLast);
  std::vector<RankedLayer> layers;
  for (const std::int64_t vector : kVectors) {
    layers.push_back({.weight = all, .gradient = last * 1e-5, .vector = vector});
    layers.push_back({.weight = last, .gradient = last * 1e-5, .vector = vector});
    layers.push_back({.weight = all.narrow(0, 3, 1001), .vector = vector});
  }
  check_layers(*kernels, layers);
}

TEST_CASE("kernels rank dense weights in fp32 only") {
  const torch::Tensor weight = torch::rand({4, 6, 3, 3});
  CHECK(can_rank(weight));
  CHECK(can_rank(weight.contiguous(torch::MemoryFormat::ChannelsLast)));
  CHECK(can_rank(weight.flatten(1)));
  CHECK_FALSE(can_rank(weight.transpose(0, 1)));
  CHECK_FALSE(can_rank(weight.to(torch::kDouble)));
  CHECK_FALSE(can_rank(torch::zeros({0, 3})));
  const auto without_memory = torch::TensorOptions().device(torch::kMeta);
  CHECK(can_rank(torch::empty({1 << 16, (1 << 15) - 1}, without_memory)));
  CHECK_FALSE(can_rank(torch::empty({1 << 16, 1 << 15}, without_memory)));
}

}  // namespace
}  // namespace winnow
