// An order of a layer's output channels in which neighbours, which share bits of a mask, have their
// large weights at the same places (Tan et al., "Accelerating sparse convolution with column
// vector-wise sparsity", NeurIPS 2022). Free of LibTorch's headers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace winnow {

// The channels as one of the layers that compute them has them.
struct ComputedChannels {
  std::vector<float> squares;  // [channels][places], of the weights
  double density = 1.0;        // share of the blocks that masks are going to keep
};

// Share of the sum of all squares in the blocks that are kept where those with the largest sums
// are. `order`, [channels], says which channel is where; `vector` neighbours at one place are a
// block, fewer at the end.
double kept_share(const ComputedChannels& layer, std::span<const std::int64_t> order,
                  std::int64_t vector);

// [channels]: the channel at each place. The mean of the layers' kept shares is no less than that
// of channels as they are. The search begins with these, and with groups of channels that are
// alike, and takes turns: with the blocks that are kept held fast it exchanges channels for as long
// as that keeps more, then it chooses the blocks anew; it ends where neither gains. Not the best
// order of all, which is a hard problem.
std::vector<std::int64_t> grouped_order(std::span<const ComputedChannels> layers,
                                        std::int64_t channels, std::int64_t vector);

}  // namespace winnow
