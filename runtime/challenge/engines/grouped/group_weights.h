// A layer as tensor cores read it: groups of 16 outputs that share their inputs, weights as the
// fragments of mma.m16n8k16 (PTX ISA, "Matrix fragments for mma.m16n8k16").
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

#include "runtime/challenge/engines/gpu/host_device.h"
#include "runtime/challenge/engines/grouped/input_groups.h"
#include "runtime/challenge/network.h"
#include "runtime/device/buffer.h"

namespace winnow::challenge {

inline constexpr std::uint32_t kStepInputs = 32;  // of one step: two fragments
inline constexpr float kActivationScale = 1024;   // activations are stored so many times as large
inline constexpr float kBitValue = 2;             // what a one in an image of bits counts

// Where a row of two parts begins in the shared memory of staged_kernel and pair_kernel
// (staged_rows.cuh); 16 bits.
inline constexpr int kInputParts = 2;
inline constexpr std::uint32_t kStagedRowBytes = kInputParts * 64 * 2;
inline constexpr std::uint32_t kMostStagedRows = 256;
WINNOW_HOST_DEVICE constexpr std::uint32_t staged_row(std::uint32_t row) {
  return row * kStagedRowBytes + (row % 4 ^ row % 2 * 4) * 16;
}

inline constexpr std::uint32_t kMostPartReads = 16;

// The groups that a part reads, numbered in the order of its rows. One may be shared with the part
// before: number `here`, and `there` in that part.
struct PartReads {
  static constexpr std::uint32_t kIsShared = 1u << 24;

  std::uint32_t bits = 0;  // groups | here << 8 | there << 16 | kIsShared

  WINNOW_HOST_DEVICE std::uint32_t groups() const { return bits & 0xff; }
  WINNOW_HOST_DEVICE bool is_shared() const { return (bits & kIsShared) != 0; }
  WINNOW_HOST_DEVICE std::uint32_t here() const { return bits >> 8 & 0xff; }
  WINNOW_HOST_DEVICE std::uint32_t there() const { return bits >> 16 & 0xff; }
};

// An entry of part_group: a group of the layer before and its number among those that a part reads.
WINNOW_HOST_DEVICE constexpr std::uint32_t part_group_entry(std::uint32_t group,
                                                            std::uint32_t number) {
  return group | number << 24;
}
WINNOW_HOST_DEVICE constexpr std::uint32_t group_of_entry(std::uint32_t entry) {
  return entry & 0xffffff;
}
WINNOW_HOST_DEVICE constexpr std::uint32_t number_of_entry(std::uint32_t entry) {
  return entry >> 24;
}

// In host memory. Group g computes rows [16 g, 16 g + 16) of the layer's result, in steps
// [step_begin[g], step_begin[g + 1]) of 32 inputs; what fills a step has weight 0.
struct GroupedLayer {
  std::uint32_t parts = 1;  // weights are the sum of so many halfs: 1 where that is exact, else 2
  std::vector<std::uint32_t> step_begin = {0};
  std::vector<uint4> input;   // [step][2][4]: rows of inputs k = 2 q, 2 q + 1, 2 q + 8, 2 q + 9
  std::vector<uint4> weight;  // [step][part][2][32 lanes]
  std::vector<float> bias;    // [16 x groups]

  // The rows that part p (8 groups, group_parts.h) reads: part_row[part_begin[p] ..
  // part_begin[p + 1]); and the inputs as places in that list.
  std::vector<std::uint32_t> part_begin = {0};
  std::vector<std::uint32_t> part_row;
  std::vector<uint2> local;  // as `input`: staged_row() of places in that list, 16 bits each; of no
                             // use if a part has more than kMostStagedRows rows

  // If reads_whole_groups() and no part has more than 256 rows: which groups of the layer before a
  // part reads, and which of them the part before reads too (PartReads).
  std::vector<std::uint32_t> part_reads;  // [part]
  std::vector<std::uint32_t> part_group;  // [part][kMostPartReads] part_group_entry(), the
                                          // one that the part before reads too last

  std::uint32_t most_part_rows() const;

  // Whether the rows of each part come in runs of 16 that are a group of the layer before.
  bool reads_whole_groups() const;

  std::uint32_t steps() const;  // of every group; 0 if they differ
  bool has_positive_bias() const;
  std::uint32_t groups() const { return static_cast<std::uint32_t>(step_begin.size()) - 1; }
};

// The row in which each output of a layer with these groups lies.
std::vector<std::uint32_t> rows_of_outputs(const InputGroups& groups);

// `row_of_input` says in which row of the layer before each input lies; empty for the first layer,
// which reads bits: input i is in row i, and a one counts as kBitValue, so weights make up for
// that. Biases are kActivationScale times as large. Throws Error{usage} if a weight is too large
// for a half.
GroupedLayer group_layer(const SparseLayer& layer, const InputGroups& groups,
                         const std::vector<std::uint32_t>& row_of_input);

// Device memory.
struct GroupView {
  std::uint32_t groups = 0;
  std::uint32_t parts = 1;
  std::uint32_t steps = 0;  // of every group; 0 if they differ
  bool has_positive_bias = true;
  std::uint32_t most_part_rows = 0;
  bool reads_whole_groups = false;
  const std::uint32_t* step_begin = nullptr;
  const uint4* input = nullptr;
  const uint4* weight = nullptr;
  const float* bias = nullptr;
  const std::uint32_t* part_begin = nullptr;
  const std::uint32_t* part_row = nullptr;
  const uint2* local = nullptr;
  const std::uint32_t* part_reads = nullptr;
  const std::uint32_t* part_group = nullptr;
};

class GroupWeights {
 public:
  // Returns when it is there. Throws Error{device} if memory runs out.
  explicit GroupWeights(const GroupedLayer& layer);

  GroupView view() const;

 private:
  GroupView scalars_;  // without pointers
  DeviceBuffer<std::uint32_t> step_begin_;
  DeviceBuffer<uint4> input_;
  DeviceBuffer<uint4> weight_;
  DeviceBuffer<float> bias_;
  DeviceBuffer<std::uint32_t> part_begin_;
  DeviceBuffer<std::uint32_t> part_row_;
  DeviceBuffer<uint2> local_;
  DeviceBuffer<std::uint32_t> part_reads_;
  DeviceBuffer<std::uint32_t> part_group_;
};

}  // namespace winnow::challenge
