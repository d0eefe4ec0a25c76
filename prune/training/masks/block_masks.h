// Masks of single weights, or of vectors of neighbouring output channels.
#pragma once

#include <cstdint>
#include <vector>

#include "prune/training/masks/mask_update.h"
#include "prune/training/masks/masked_layer.h"
#include "prune/training/masks/pruning_masks.h"

namespace winnow {

class BlockMasks : public PruningMasks {
 public:
  // As make_masks().
  BlockMasks(const Model& model, Learner& learner, const MaskOptions& options);

  void load(const Model& model) override;
  void store(Model& model) const override;
  std::vector<Migration> recompute(std::span<const double> sparsities,
                                   std::span<const double> alphas) override;
  std::vector<MagnitudeCurve> magnitude_curves() const override;
  std::vector<GroupNorms> group_norms() const override;
  std::vector<Migration> keep_groups(std::span<const KeptGroups> kept) override;
  void shrink_groups(const GroupPenalty& penalty, double rate) const override;
  NamedTensors state() const override;
  void refresh() override;
  Tensors choice() const override;
  void choose(const Tensors& choice) override;

 private:
  void find_layers(Learner& learner);
  void find_groups(const Graph& graph);
  void set_masks(const Tensors& masks);
  Tensors current_masks() const;
  torch::Tensor migrations_from(const Tensors& masks_before) const;
  MaskChoice chosen(const Tensors& importances, std::span<const double> sparsities) const;

  MaskOptions options_;
  std::vector<MaskedLayer> masked_layers_;
};

}  // namespace winnow
