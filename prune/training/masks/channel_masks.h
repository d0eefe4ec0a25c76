// Masks of whole channels.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "prune/training/channels/channel_units.h"
#include "prune/training/masks/channel_ranking.h"
#include "prune/training/masks/pruning_masks.h"

namespace winnow {

// A channel that is dropped is 0 everywhere: its filters, biases, batch norms (with their
// statistics) and the weights that read it are 0. What they were lies beside them, and comes back
// with the channel: from zeros alone none could, since no gradient reaches it.
//
// Importance of a channel: the mean over the layers that compute it of eq 2's, a block being the
// filter with the inputs that are kept. Channels that are dropped rank behind all others, among
// themselves by what they were. Magnitude curves are of this importance with alpha 0: filters of
// different layers compare by their layers' means, not by their fan-in.
class ChannelMasks : public PruningMasks {
 public:
  // As make_masks().
  ChannelMasks(const Model& model, Learner& learner);

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
  Tensors choice() const override { return {kept_.clone()}; }
  void choose(const Tensors& choice) override;

 private:
  struct Masked {
    std::string name;
    torch::Tensor value;        // the network's own
    torch::Tensor outputs;      // [K] channels of units, `channels_` where it is fixed
    torch::Tensor inputs = {};  // [C] likewise, of filters
    torch::Tensor mask;         // as `value`
    torch::Tensor dropped;      // as `value`: what it was where the mask is 0
    bool is_filter = false;
    std::size_t unit = 0;             // of filters, whose channels are all of one or fixed
    torch::Tensor gradient_sum = {};  // of filters
  };

  void add(const ChannelNode& node, const Node& layer, Learner& learner);
  void join();
  void set_masks();
  torch::Tensor norms() const;
  std::vector<Migration> choose_channels(const torch::Tensor& kept);

  ChannelUnits units_;
  std::vector<Masked> all_;
  Tensors dropped_;                                         // of all_
  torch::Tensor outputs_;                                   // of all_, in a row
  std::vector<std::int64_t> output_counts_, input_counts_;  // of all_ and of its filters
  ChannelRanking ranking_;
  torch::Tensor kept_;  // u8 [channels]
};

}  // namespace winnow
