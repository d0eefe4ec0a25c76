// The weights of a layer as tensor cores read them, in host memory. A group of 16 outputs and 32 of
// its inputs are a step: two fragments of mma.m16n8k16 (PTX ISA, "Matrix fragments for
// mma.m16n8k16"), each a dense matrix of 16 outputs x 16 inputs. group_kernel.h explains
// group, panel, tile and term.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

#include "runtime/challenge/engines/grouped/layout/group_columns.h"
#include "runtime/challenge/engines/grouped/layout/input_groups.h"
#include "runtime/challenge/network.h"
#include "runtime/device/host_device.h"

namespace winnow::challenge {

inline constexpr float kActivationScale = 1024;  // a stored activation over the network's
inline constexpr float kBitValue = 2;            // the stored activation that a set bit stands for

// Rows of two terms in shared memory, as double_buffered_kernel and two_layer_kernel keep them: row
// r begins at byte shared_row(r), which fits 16 bits. shared_rows.cuh says why rows are not
// aligned.
inline constexpr int kInputTerms = 2;
inline constexpr std::uint32_t kSharedRowBytes = kInputTerms * 64 * 2;
inline constexpr std::uint32_t kMostSharedRows = 256;
WINNOW_HOST_DEVICE constexpr std::uint32_t shared_row(std::uint32_t row) {
  return row * kSharedRowBytes + (row % 4 ^ row % 2 * 4) * 16;
}

// Group g computes the rows [16 g, 16 g + 16) of the result in the steps
// [step_begin[g], step_begin[g + 1]). A step that has fewer than 32 inputs is filled with weights
// 0.
struct GroupedLayer {
  std::uint32_t weight_terms = 1;  // halves whose sum is a weight: 1 where that is exact, else 2
  std::vector<std::uint32_t> step_begin = {0};  // [groups + 1]
  std::vector<uint4> weight;  // [step][term][fragment][32 lanes]: a lane's words of the fragment
  std::vector<float> bias;    // [16 x groups], kActivationScale times the network's

  // [step][fragment][q = 0 to 3]: the rows, in the layer before, of the inputs of the fragment's
  // columns 2 q, 2 q + 1, 2 q + 8 and 2 q + 9: those that the lanes with lane % 4 == q multiply.
  std::vector<uint4> input;

  // Panel p reads the rows panel_row[panel_begin[p] .. panel_begin[p + 1]) of the layer before,
  // each once. A kernel that copies them to shared memory in this order puts the i-th at
  // shared_row(i).
  std::vector<std::uint32_t> panel_begin = {0};  // [panels + 1]
  std::vector<std::uint32_t> panel_row;

  // The same inputs as `input`, as places in shared memory: 16 bits each, shared_row(i) of the i-th
  // row of the panel. Meaningless for a panel that reads more than kMostSharedRows rows.
  std::vector<uint2> local;

  // Which groups of the layer before a panel reads. Empty unless reads_whole_groups() and no panel
  // reads more than kMostPanelReads groups.
  std::vector<std::uint32_t> panel_reads;  // [panel] PanelReads::bits
  std::vector<std::uint32_t> panel_group;  // [panel][kMostPanelReads] panel_group_entry(); the
                                           // carried group, if there is one, is the last entry

  std::uint32_t groups() const { return static_cast<std::uint32_t>(step_begin.size()) - 1; }
  std::uint32_t steps() const;            // of every group; 0 if groups differ
  std::uint32_t most_panel_rows() const;  // that a panel reads

  // Whether what each panel reads is made of whole groups of the layer before: their 16 rows one
  // after the other.
  bool reads_whole_groups() const;
  bool has_positive_bias() const;  // whether any bias is above 0
};

// [outputs]: the row of the result in which each output of a layer with these groups lies.
std::vector<std::uint32_t> rows_of_outputs(const InputGroups& groups);

// Packs `layer`, whose outputs are in `groups`.
//
//   row_of_input  [layer.inputs] in which row of the layer before each input lies. Empty for the
//                 first layer, which reads bits: input i is row i, and weights are divided by
//                 kBitValue.
//   memory        a layer that is no longer needed, whose memory is used again
//
// Throws Error{usage} if a weight does not fit the range of a half.
GroupedLayer group_layer(const SparseLayer& layer, const InputGroups& groups,
                         const std::vector<std::uint32_t>& row_of_input, GroupedLayer memory = {});

}  // namespace winnow::challenge
