// What a mask update computes of all layers against its computation layer by layer.
#include "prune/training/masks/mask_update.h"

#include "prune/training/masks/block_masks.h"
#include "prune/training/masks/mask_selection.h"
#include "prune/training/network/initialization.h"
#include "tests/training/graphs.h"
#include "tests/training/images.h"
#include "tests/training/kernels_here.h"
#include "tests/training/masked_layers.h"
#include "tests/training/torch_doctest.h"

namespace winnow {
namespace {

TEST_CASE("the masks of many layers are those of each") {
  torch::manual_seed(6);
  std::vector<MaskedLayer> layers;
  for (const torch::Tensor& weight :
       {torch::rand({5, 3, 3, 3}), torch::rand({8, 1}), torch::rand({4, 6}).round()}) {
    layers.push_back(layer_of(weight, 1));
  }
  const std::vector<double> sparsities = {0.3, 0.0, 0.7};
  const auto importances = importances_of_layers(layers, {}, true);
  const MaskChoice choice = top_blocks_of_layers(layers, importances, sparsities, true);
  REQUIRE(choice.masks.size() == layers.size());
  CHECK_FALSE(choice.migrations.defined());
  for (std::size_t i = 0; i < layers.size(); ++i) {
    CHECK(choice.masks[i].sizes() == layers[i].weight.sizes());
    CHECK(torch::equal(choice.masks[i], top_blocks(layers[i].weight, sparsities[i])));
  }
  CHECK(top_blocks_of_layers({}, {}, {}, true).masks.empty());
}

// A small network's masks on a device, gradients at random.
struct SmallMasks {
  static constexpr const char* kNodes[] = {"conv1", "conv2", "linear"};
  static constexpr std::int64_t kVectors[] = {1, 8, 8};  // the last two have ragged blocks

  Model model = initial_model(small_network(1, 4), 3);
  DataSet data = striped_data();
  Learner learner;
  BlockMasks masks;

  SmallMasks(const torch::Device& device, MaskOptions options)
      : learner(model, data, device, TrainConfig{}, AugmentConfig{}, 1),
        masks(model, learner, with_vectors(std::move(options))) {
    torch::manual_seed(7);
    for (const auto& [name, value] : masks.state()) {
      if (name.ends_with(".gradient")) torch::Tensor(value).normal_();
      if (name.ends_with(".square")) torch::Tensor(value).uniform_();
    }
  }

  static MaskOptions with_vectors(MaskOptions options) {
    options.vectors.assign(std::begin(kVectors), std::end(kVectors));
    return options;
  }

  torch::Tensor state(const std::string& wanted) const {
    for (const auto& [name, value] : masks.state()) {
      if (name == wanted) return value;
    }
    return {};
  }

  torch::Tensor mask(std::size_t layer) const {
    return state(std::string(kNodes[layer]) + ".weight.mask");
  }

  torch::Tensor weight(const std::string& node) {
    for (const NamedTensor& parameter : learner.network().parameters()) {
      if (parameter.name == node + ".weight") return parameter.value.detach();
    }
    return {};
  }
};

// A layer's next mask with LibTorch's operations.
torch::Tensor expected_mask(SmallMasks& small, std::size_t layer, double sparsity, double alpha) {
  const std::string node = SmallMasks::kNodes[layer];
  const std::int64_t vector = SmallMasks::kVectors[layer];
  const torch::Tensor weight = small.weight(node);
  if (alpha == 0.0) return top_blocks(block_magnitudes(weight, vector), sparsity);
  const torch::Tensor gradient = small.state(node + ".weight.gradient");
  return top_blocks(block_importance(weight, gradient, vector, alpha), sparsity);
}

std::int64_t total_of(const torch::Tensor& values) {
  return values.sum().item<std::int64_t>();
}

void check_recompute(SmallMasks& small, const std::vector<double>& sparsities,
                     const std::vector<double>& alphas) {
  std::vector<torch::Tensor> before, expected;
  for (std::size_t i = 0; i < sparsities.size(); ++i) {
    before.push_back(small.mask(i));
    const double alpha = alphas.empty() ? 0.0 : alphas[i];
    expected.push_back(expected_mask(small, i, sparsities[i], alpha));
  }
  const auto moved = small.masks.recompute(sparsities, alphas);
  for (std::size_t i = 0; i < sparsities.size(); ++i) {
    CAPTURE(i);
    CHECK(torch::equal(small.mask(i), expected[i]));
    CHECK(moved[i].entered == total_of(expected[i] > before[i]));
    CHECK(moved[i].left == total_of(expected[i] < before[i]));
    CHECK(moved[i].kept == total_of(expected[i]));
    const torch::Tensor weight = small.weight(SmallMasks::kNodes[i]);
    CHECK(moved[i].kept_weights ==
          total_of(weight_mask(expected[i], weight, SmallMasks::kVectors[i])));
  }
}

TEST_CASE("on the CPU a mask update is that of each layer, whether kernels may be used or not") {
  for (const bool fuses_kernels : {false, true}) {
    SmallMasks small(torch::kCPU, {.fuses_kernels = fuses_kernels});
    check_recompute(small, {0.5, 0.4, 0.3}, {0.3, 0.0, 1.0});
    check_recompute(small, {0.2, 0.6, 0.5}, {1.0, 1.0, 1.0});
    check_recompute(small, {0.6, 0.7, 0.5}, {});
  }
}

// By importances that have LibTorch's bits up to a rounding, which no threshold here lies within.
TEST_CASE("on a GPU a mask update by kernels is that of each layer, migrations included") {
  if (!kernels_here(mask_kernels)) return;
  for (const bool fuses_kernels : {false, true}) {
    CAPTURE(fuses_kernels);
    SmallMasks small(torch::kCUDA, {.fuses_kernels = fuses_kernels});
    check_recompute(small, {0.5, 0.4, 0.3}, {});
    check_recompute(small, {0.2, 0.6, 0.5}, {0.3, 0.0, 0.7});
    check_recompute(small, {0.6, 0.7, 0.5}, {0.0, 0.0, 0.0});
  }
}

std::vector<MagnitudeCurve> curves_with(const torch::Device& device, MaskOptions options) {
  const SmallMasks small(device, std::move(options));
  return small.masks.magnitude_curves();
}

TEST_CASE("on a GPU kernels read the curves of what a criterion or feedback ranks") {
  if (!kernels_here(mask_kernels)) return;
  for (const bool uses_fisher : {false, true}) {
    CAPTURE(uses_fisher);
    MaskOptions options = {.uses_fisher = uses_fisher, .feedback = !uses_fisher};
    const auto found = curves_with(torch::kCUDA, options);
    options.fuses_kernels = false;
    const auto expected = curves_with(torch::kCUDA, options);
    REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      REQUIRE(found[i].ranks == expected[i].ranks);
      CHECK(found[i].magnitudes.front() > 0);
      for (std::size_t k = 0; k < found[i].ranks.size(); ++k) {
        CHECK(found[i].magnitudes[k] == doctest::Approx(expected[i].magnitudes[k]).epsilon(1e-6));
        CHECK(found[i].squares[k] == doctest::Approx(expected[i].squares[k]).epsilon(1e-6));
      }
    }
  }
}

TEST_CASE("layers have kernels where all of them are covered, and only where they may be used") {
  const std::vector<MaskedLayer> on_cpu = {layer_of(torch::rand({3, 4}), 1)};
  CHECK(kernels_for(on_cpu, true) == nullptr);
  CHECK(kernels_for({}, true) == nullptr);
  if (!kernels_here(mask_kernels)) return;
  std::vector<MaskedLayer> layers = {layer_of(torch::rand({3, 4}, torch::kCUDA), 1)};
  CHECK(kernels_for(layers, true) != nullptr);
  CHECK(kernels_for(layers, false) == nullptr);
  layers.push_back(layer_of(torch::rand({4, 6}, torch::kCUDA).t(), 1));  // rows are not together
  CHECK(kernels_for(layers, true) == nullptr);
}

}  // namespace
}  // namespace winnow
