// A layer as the oracle keeps it: the largest network has 4e9 connections, and all are kept.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/sparse/sparse_layer.h"

namespace winnow::challenge {

// Takes 2 bytes a connection where all inputs are below 65536 and all weights are equal, as in the
// published networks, and up to 8 else.
class CompactLayer {
 public:
  explicit CompactLayer(const SparseLayer& layer);

  // out = min(32, max(0, z + b where z != 0)), z the sum in the order of the connections, in fp64.
  // `in` has the layer's inputs; `out` gets its outputs.
  void run(const std::vector<double>& in, std::vector<double>& out) const;

 private:
  template <typename Index>
  void run(const std::vector<Index>& input, const std::vector<double>& in,
           std::vector<double>& out) const;

  std::vector<std::uint32_t> row_begin_;  // [outputs + 1]
  std::vector<std::uint16_t> narrow_;     // inputs of the connections, or none
  std::vector<std::uint32_t> wide_;       // those that 16 bits do not hold
  std::vector<float> value_;              // of the connections, or the one of all
  std::vector<float> bias_;               // of the outputs, or the one of all
};

}  // namespace winnow::challenge
