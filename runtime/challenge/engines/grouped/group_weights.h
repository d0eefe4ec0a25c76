// The weights of a layer as tensor cores read them, in one piece of memory that can be copied as a
// whole.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/challenge/engines/grouped/layout/grouped_layer.h"
#include "runtime/challenge/engines/grouped/layout/panel_reads.h"

namespace winnow::challenge {

// A GroupedLayer in device memory: members of the same name mean the same. Empty arrays are null.
struct GroupView {
  std::uint32_t groups = 0;
  std::uint32_t weight_terms = 1;
  std::uint32_t steps = 0;
  bool has_positive_bias = true;
  std::uint32_t most_panel_rows = 0;
  bool reads_whole_groups = false;
  const std::uint32_t* step_begin = nullptr;
  const uint4* input = nullptr;
  const uint4* weight = nullptr;
  const float* bias = nullptr;
  const std::uint32_t* panel_begin = nullptr;
  const std::uint32_t* panel_row = nullptr;
  const uint2* local = nullptr;
  const std::uint32_t* panel_reads = nullptr;
  const std::uint32_t* panel_group = nullptr;
};

// Where in the piece the arrays of a layer lie.
class GroupPiece {
 public:
  explicit GroupPiece(const GroupedLayer& layer);

  std::size_t bytes() const { return end_; }

  // The layer of the constructor. Requires piece.size() >= bytes().
  void write(const GroupedLayer& layer, std::span<std::byte> piece) const;

  // Of a piece that begins there, at a multiple of 256.
  GroupView view(const std::byte* piece) const;

 private:
  static constexpr std::size_t kArrays = 9;
  using Arrays = std::array<std::span<const std::byte>, kArrays>;
  static Arrays arrays_of(const GroupedLayer& layer);

  GroupView scalars_;  // without pointers
  std::array<std::size_t, kArrays> begin_{};
  std::array<bool, kArrays> is_empty_{};
  std::size_t end_ = 0;
};

}  // namespace winnow::challenge
