// The weights of a layer's groups as fragments of mma.m16n8k16. What grouped_layer.cpp is built
// with.
#pragma once

#include <vector_types.h>

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/challenge/engines/grouped/layout/group_columns.h"
#include "runtime/challenge/network.h"

namespace winnow::challenge {

inline constexpr std::uint32_t kStepTermWords = 64;  // uint4s of a step's weights, for one term

// Writes the weights of groups as halves, [step][term][fragment][32 lanes] uint4s.
class FragmentWriter {
 public:
  // Weights are multiplied by `scale`. Throws Error{usage} if one does not fit the range of a half.
  FragmentWriter(const SparseLayer& layer, float scale);

  // Halves whose sum is a weight: 1 where that is exact, else 2.
  std::uint32_t terms() const { return terms_; }

  // A group of these outputs and inputs. `to`: [columns.steps()], all zeros.
  void write(std::span<const std::uint32_t> outputs, std::span<const std::uint32_t> inputs,
             const GroupColumns& columns, uint4* to);

 private:
  void prefetch(std::uint32_t output) const;
  void write_row(std::uint32_t output, std::span<const std::uint32_t> inputs, unsigned char* row);
  void convert(float value);

  const SparseLayer& layer_;
  float scale_;
  bool is_uniform_;  // all weights are equal, so that there is no need to read them
  std::uint32_t terms_;
  std::vector<std::uint32_t> place_;  // by input: where its weights lie in a row, in bytes
  std::uint16_t halves_[2] = {};      // [term] of the weight that was converted last
};

}  // namespace winnow::challenge
