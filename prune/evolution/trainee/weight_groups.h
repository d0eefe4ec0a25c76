// Groups of weights that go together: filters, channels and kernel shapes, as in paper 001 and in
// Wen et al., "Learning structured sparsity in deep neural networks", NeurIPS 2016.
#pragma once

#include <cstdint>
#include <vector>

namespace winnow {

// Of a layer with weight [K, C, ...]: the norms (root of the sum of squares) of its groups. Filter
// k is W[k, ...]; a kernel shape is the weights of all filters at one place of C x kernel.
struct GroupNorms {
  std::vector<double> filters = {};  // [K]; with channel masks [blocks], of all members' filters;
                                     // empty if no filter can go: the network's output
  std::vector<double> shapes = {};   // [C * kernel], row-major; empty with channel masks
};

// 1 for those that stay. A list of GroupNorms that is empty is empty here.
struct KeptGroups {
  std::vector<std::uint8_t> filters = {};
  std::vector<std::uint8_t> shapes = {};
};

// The two stages of the decomposition of paper 001.
enum class GroupStage {
  none,
  between_channels,  // filters W[k, ...] and channels W[:, c, ...]
  within_channels,   // kernel shapes W[:, c, r, s]
};

// The term sum over groups of strength * sqrt(weights of the group) * norm of the group, which is
// added to the task's loss. Its proximal step follows each step of the optimizer:
//   w <- w * max(0, 1 - rate * strength * sqrt(n) / |w|)
// with the learning rate, so that groups become exactly 0 (Yuan and Lin, "Model selection and
// estimation in regression with grouped variables", 2006). The strongest group of each kind of a
// layer never does: no threshold is more than 0.9 of its norm.
struct GroupPenalty {
  GroupStage stage = GroupStage::none;
  std::vector<double> strengths = {};  // [layers]; 0: the layer is left alone
};

}  // namespace winnow
