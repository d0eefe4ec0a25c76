// The masks that kernels choose on a GPU against those of LibTorch's operations.
#include "prune/training/masks/mask_kernels.h"

#include <cmath>
#include <limits>

#include "prune/evolution/trainee/importance.h"
#include "prune/training/masks/mask_selection.h"
#include "prune/training/masks/mask_update.h"
#include "runtime/base/random.h"
#include "tests/training/kernels_here.h"
#include "tests/training/torch_doctest.h"

namespace winnow {
namespace {

torch::Tensor odd_values(std::int64_t count) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kLargest = std::numeric_limits<float>::max();
  const torch::Tensor values =
      torch::tensor({std::nanf(""), kInfinity, -kInfinity, kLargest, -kLargest, 0.0f, -0.0f, -1.0f,
                     1e-40f, -1e-40f, 1.0f});
  return values.take(torch::randint(values.numel(), {count}, torch::kLong));
}

// Of many kinds: distinct, with many ties, mostly zeros, no numbers, a few bits apart.
torch::Tensor some_values(std::int64_t count, std::uint64_t kind) {
  switch (kind) {
    case 0:
      return torch::randn({count}).abs();
    case 1:
      return torch::randint(5, {count}, torch::kFloat);
    case 2:
      return torch::randn({count}) * (torch::rand({count}) > 0.8);
    case 3:
      return odd_values(count);
    case 4:
      return torch::ones({count}) + torch::randint(40, {count}, torch::kFloat) * 1e-7;
    default:
      return torch::zeros({count});
  }
}

// Of a few values, about a whole number of chunks, and of any size.
std::int64_t some_size(Random& random) {
  const auto below = [&](std::uint64_t n) { return static_cast<std::int64_t>(random.below(n)); };
  switch (random.below(4)) {
    case 0:
      return below(5);
    case 1:
      return 16384 * (1 + below(4)) + below(3) - 1;
    case 2:
      return 1 + below(2000);
    default:
      return 1 + below(300000);
  }
}

struct Layers {
  std::vector<torch::Tensor> importances;
  std::vector<double> sparsities;
  std::vector<std::int64_t> counts;

  void add(const torch::Tensor& importance, double sparsity) {
    importances.push_back(importance.to(torch::kCUDA));
    sparsities.push_back(sparsity);
    counts.push_back(kept_blocks(importance.numel(), sparsity));
  }
};

Layers some_layers(std::uint64_t count, Random& random) {
  Layers layers;
  for (std::uint64_t i = 0; i < count; ++i) {
    const torch::Tensor values = some_values(some_size(random), random.below(6));
    const std::uint64_t kind = random.below(6);
    const double one = values.numel() > 0 ? 1.0 - 1.0 / static_cast<double>(values.numel()) : 0.0;
    layers.add(values, kind == 0 ? 0.0 : kind == 1 ? 1.0 : kind == 2 ? one : random.uniform());
  }
  return layers;
}

void check_layers(const MaskKernels& kernels, const Layers& layers) {
  const auto masks = kernels.top_blocks(layers.importances, layers.counts, {}).masks;
  const auto again = kernels.top_blocks(layers.importances, layers.counts, {}).masks;
  REQUIRE(masks.size() == layers.importances.size());
  for (std::size_t i = 0; i < masks.size(); ++i) {
    CAPTURE(layers.importances[i].numel());
    CAPTURE(layers.counts[i]);
    const torch::Tensor expected = top_blocks(layers.importances[i], layers.sparsities[i]);
    REQUIRE(masks[i].sum().item<std::int64_t>() == layers.counts[i]);
    REQUIRE(torch::equal(masks[i], expected));
    REQUIRE(torch::equal(masks[i], again[i]));
  }
}

TEST_CASE("masks chosen by kernels are LibTorch's over random layers, ties and no numbers too") {
  const MaskKernels* kernels = kernels_here(mask_kernels);
  if (!kernels) return;
  torch::manual_seed(21);
  Random random(22);
  for (int i = 0; i < 25; ++i) check_layers(*kernels, some_layers(1 + random.below(9), random));
  check_layers(*kernels, some_layers(160, random));
  check_layers(*kernels, {});
}

TEST_CASE("kernels keep none, one and all of a layer, and choose in a large one") {
  const MaskKernels* kernels = kernels_here(mask_kernels);
  if (!kernels) return;
  torch::manual_seed(23);
  for (std::uint64_t kind = 0; kind < 6; ++kind) {
    const torch::Tensor values = some_values(40000, kind).to(torch::kCUDA);
    for (const std::int64_t count : {0, 1, 39999, 40000}) {
      CAPTURE(kind);
      const std::vector<torch::Tensor> one = {values};
      const std::vector<std::int64_t> counts = {count};
      const double sparsity = 1.0 - static_cast<double>(count) / 40000.0;
      torch::Tensor expected = top_blocks(values, sparsity);
      if (count == 0) expected = torch::zeros_like(expected);  // top_blocks() keeps at least one
      CHECK(torch::equal(kernels->top_blocks(one, counts, {}).masks[0], expected));
    }
  }
  Layers large;
  large.add(torch::randn({512, 4096, 3, 3}).abs(), 0.9);
  large.add(torch::randint(3, {5000, 1001}, torch::kFloat), 0.5);
  check_layers(*kernels, large);
}

TEST_CASE("parts of a tensor at odd addresses have masks too") {
  const MaskKernels* kernels = kernels_here(mask_kernels);
  if (!kernels) return;
  torch::manual_seed(24);
  const torch::Tensor all = torch::randint(9, {50000}, torch::kFloat).to(torch::kCUDA);
  Layers layers;
  for (const std::int64_t first : {0, 1, 2, 3, 101}) {
    layers.add(all.narrow(0, first, 30000 + 7 * first), 0.6);
  }
  check_layers(*kernels, layers);
}

// With a mask that keeps all, none or some.
MaskedLayer some_masked_layer(Random& random) {
  constexpr std::int64_t kVectors[] = {1, 8, 16, 32};
  const auto outputs = static_cast<std::int64_t>(1 + random.below(100));
  const auto inputs = static_cast<std::int64_t>(1 + random.below(300));
  torch::Tensor weight = torch::randn({outputs, inputs, 3, 1}, torch::kCUDA);
  if (random.below(2) == 0) weight = weight.round();  // ties
  if (random.below(2) == 0) weight = weight.contiguous(torch::MemoryFormat::ChannelsLast);
  MaskedLayer layer =
      MaskedLayer::whole("layer", kVectors[random.below(4)], weight, torch::zeros_like(weight));
  const double share = random.below(4) == 0 ? 0.0 : random.below(4) == 0 ? 1.0 : random.uniform();
  layer.block_mask.copy_(torch::rand(layer.block_mask.sizes(), torch::kCUDA) < share);
  return layer;
}

void check_migrations(std::vector<MaskedLayer> layers, const std::vector<double>& sparsities) {
  const auto importances = importances_of_layers(layers, {}, false);
  const MaskChoice choice = top_blocks_of_layers(layers, importances, sparsities, true);
  REQUIRE(choice.migrations.size(0) == static_cast<std::int64_t>(layers.size()));
  for (std::size_t i = 0; i < layers.size(); ++i) {
    CAPTURE(layers[i].weight.sizes());
    CAPTURE(layers[i].vector);
    const torch::Tensor before = layers[i].block_mask;
    REQUIRE(torch::equal(choice.masks[i], top_blocks(importances[i], sparsities[i])));
    layers[i].set_mask(choice.masks[i]);
    REQUIRE(torch::equal(choice.migrations[static_cast<std::int64_t>(i)],
                         layers[i].migration_from(before)));
  }
}

TEST_CASE("kernels count the migrations from random masks") {
  if (!kernels_here(mask_kernels)) return;
  torch::manual_seed(25);
  Random random(26);
  for (int round = 0; round < 25; ++round) {
    std::vector<MaskedLayer> layers;
    std::vector<double> sparsities;
    const std::uint64_t count = 1 + random.below(9);
    for (std::uint64_t i = 0; i < count; ++i) {
      layers.push_back(some_masked_layer(random));
      sparsities.push_back(random.below(4) == 0 ? 0.0 : random.uniform());
    }
    check_migrations(layers, sparsities);
  }
}

}  // namespace
}  // namespace winnow
