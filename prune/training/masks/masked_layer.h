// A prunable layer on the device: its weight, mask and gradient statistics.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <string>

namespace winnow {

struct MaskedLayer {
  std::string node;
  std::int64_t vector = 1;
  torch::Tensor weight;             // the network's own
  torch::Tensor momentum;           // the optimizer's own
  torch::Tensor block_mask;         // u8, row-major, as in Model
  torch::Tensor mask;               // of single weights, 0 or 1, with the weight's type and strides
  torch::Tensor gradient_sum = {};  // since statistics started; undefined where alpha stays 0
  torch::Tensor square = {};        // with a Fisher criterion: the mean of squared gradients; else
                                    // undefined
  torch::Tensor dense = {};         // with feedback: all weights, pruned ones too; else undefined
  // Whether single outputs and inputs of the layer can go (channel_classes.h).
  bool can_lose_filters = false, can_lose_channels = false;
  // How many weights of a filter, a channel and a kernel shape the mask keeps, at most.
  double filter_size = 0.0, channel_size = 0.0, shape_size = 0.0;

  // Everything kept, no statistics.
  static MaskedLayer whole(std::string node, std::int64_t vector, const torch::Tensor& weight,
                           const torch::Tensor& momentum);

  // What importance ranks: a pruned weight is 0 without feedback; with a Fisher criterion times the
  // root of `square`, as soon as there are squares.
  torch::Tensor ranked() const;

  // Replaces the mask (u8, same shape). Weight and momentum stay as they are.
  void set_mask(const torch::Tensor& new_block_mask);

  // Counts filter_size and so on anew. Waits for the device.
  void count_groups();

  // Counts of Migration from the mask before to the one now, on the device: [4] int64 in the order
  // of its members.
  torch::Tensor migration_from(const torch::Tensor& old_block_mask) const;
};

}  // namespace winnow
