// What a mask update computes of all layers against its computation layer by layer.
#include "prune/training/masks/mask_update.h"

#include "prune/training/masks/mask_selection.h"
#include "tests/training/torch_doctest.h"

namespace winnow {
namespace {

MaskedLayer layer_of(const torch::Tensor& weight, std::int64_t vector) {
  return MaskedLayer::whole("layer", vector, weight, torch::zeros_like(weight));
}

TEST_CASE("the masks of many layers are those of each") {
  torch::manual_seed(6);
  std::vector<MaskedLayer> layers;
  for (const torch::Tensor& weight :
       {torch::rand({5, 3, 3, 3}), torch::rand({8, 1}), torch::rand({4, 6}).round()}) {
    layers.push_back(layer_of(weight, 1));
  }
  const std::vector<double> sparsities = {0.3, 0.0, 0.7};
  const auto importances = importances_of_layers(layers, 0.0, true);
  const MaskChoice choice = top_blocks_of_layers(layers, importances, sparsities, true);
  REQUIRE(choice.masks.size() == layers.size());
  CHECK(choice.migrations.empty());
  for (std::size_t i = 0; i < layers.size(); ++i) {
    CHECK(choice.masks[i].sizes() == layers[i].weight.sizes());
    CHECK(torch::equal(choice.masks[i], top_blocks(layers[i].weight, sparsities[i])));
  }
  CHECK(top_blocks_of_layers({}, {}, {}, true).masks.empty());
}

}  // namespace
}  // namespace winnow
