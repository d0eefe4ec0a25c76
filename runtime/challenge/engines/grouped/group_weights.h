// The weights of a layer as tensor cores read them, in device memory.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "runtime/challenge/engines/grouped/layout/grouped_layer.h"
#include "runtime/challenge/engines/grouped/layout/panel_reads.h"
#include "runtime/device/buffer.h"

namespace winnow::challenge {

// A GroupedLayer in device memory: members of the same name mean the same.
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

// Owns the device memory of a GroupView.
class GroupWeights {
 public:
  // Returns when everything is copied. Throws Error{device} if memory runs out.
  explicit GroupWeights(const GroupedLayer& layer);

  GroupView view() const;

 private:
  GroupView scalars_;  // without pointers
  DeviceBuffer<std::uint32_t> step_begin_;
  DeviceBuffer<uint4> input_;
  DeviceBuffer<uint4> weight_;
  DeviceBuffer<float> bias_;
  DeviceBuffer<std::uint32_t> panel_begin_;
  DeviceBuffer<std::uint32_t> panel_row_;
  DeviceBuffer<uint2> local_;
  DeviceBuffer<std::uint32_t> panel_reads_;
  DeviceBuffer<std::uint32_t> panel_group_;
};

}  // namespace winnow::challenge
