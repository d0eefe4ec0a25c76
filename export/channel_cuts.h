// A layer's weight by channels, and cutting channels out of a layer.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/model/model.h"

namespace winnow {

// A conv or linear weight as a [outputs, inputs, taps] block of floats.
struct WeightBlock {
  std::vector<float> values;
  std::int64_t outputs = 0, inputs = 0, taps = 1;

  WeightBlock(const Model& model, const Node& node);

  // Sum of the weights that output k multiplies inputs first .. first + count - 1 with.
  double sum(std::int64_t k, std::int64_t first, std::int64_t count) const;

  // Whether all of them are 0.
  bool is_zero(std::int64_t k, std::int64_t first, std::int64_t count) const;
};

// The bias of output k of a conv or linear node; 0 if it has none.
double bias_at(const Model& model, const Node& node, std::int64_t k);

// Channels of node `index` for which `is_removed` is true, [channels], leave its weight, codes,
// channel scales, mask, bias and op. A mask loses whole groups of its vector: the first channel of
// a group says whether it goes. A depthwise convolution loses the inputs too.
void cut_outputs(Model& model, std::size_t index, const std::vector<bool>& is_removed);

// Inputs of conv or linear node `index`, [inputs], likewise.
void cut_inputs(Model& model, std::size_t index, const std::vector<bool>& is_removed);

}  // namespace winnow
