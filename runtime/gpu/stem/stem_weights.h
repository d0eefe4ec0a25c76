// Weights of the stem convolution in the order in which matrix products take them. Pure host code.
//
// Weights are stored with their zeros: the layer is bound by the memory that it writes, and
// products with what a mask dropped take no time that counts.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/model/graph.h"

namespace winnow {

// Which dimension is the innermost one of the output.
enum class StemOutput {
  images,    // nchw32c8n: products have channels as rows and eight images as columns
  channels,  // nhwc: eight images of two pixels as rows and eight channels as columns
};

struct StemWeights {
  std::int64_t chunks = 0;           // of 32 output channels
  std::vector<std::uint32_t> words;  // [chunks, batches, 2, 32 lanes, 4] pairs of half floats
  std::vector<float> bias;           // [chunks * 32], 0 beyond the last channel
};

// Channel k of `weight` is computed as channel place[k] of the output. Convolutions with groups
// have zeros where a channel does not read an input channel.
//
//   weight  [K, C / groups, R, S]    bias  [K]    place  [K] a permutation of 0 .. K - 1
StemWeights pack_for_stem(const Conv& conv, StemOutput output, std::span<const float> weight,
                          std::span<const float> bias, std::span<const std::int32_t> place);

}  // namespace winnow
