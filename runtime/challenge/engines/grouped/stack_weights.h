// Layers of groups as the stack kernel reads them: a record for each group, one after the other, in
// chunks of kStackWarps, which are copied to shared memory as a whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/challenge/engines/gpu/host_device.h"
#include "runtime/challenge/engines/grouped/group_weights.h"
#include "runtime/device/buffer.h"

namespace winnow::challenge {

inline constexpr std::uint32_t kStackWarps = 16;  // that compute, a group of a chunk each

// A record: `parts` times the weights of a step, uint4 [2 fragments][32 lanes], then
// StackRecordEnd.
struct alignas(16) StackRecordEnd {
  // [matrix][row]: where the inputs of columns 8 matrix + row begin: row r of activations, its
  // images 0 to 7, in units of 16 bytes (stack_row()). Those of a matrix lie in different banks if
  // the inputs allow it.
  std::uint16_t input[4][8];
  float bias[8][2];  // of outputs n and n + 8
};

inline constexpr std::uint32_t kStackPartBytes = kStepInputs * kGroupOutputs * 2;
inline std::size_t stack_record_bytes(std::uint32_t parts) {
  return std::size_t{parts} * kStackPartBytes + sizeof(StackRecordEnd);
}

// Where 8 images of row r begin, in units of 16 bytes; for the other 8 the lowest bit is the
// opposite. Any 8 rows with numbers different modulo 8 meet all banks once.
WINNOW_HOST_DEVICE constexpr std::uint32_t stack_row(std::uint32_t r) {
  return 2 * r + r / 4 % 2;
}

// In host memory.
struct StackLayer {
  std::uint32_t groups = 0;
  std::uint32_t parts = 1;
  bool has_positive_bias = false;
  std::vector<std::uint32_t> records;  // [groups][stack_record_bytes / 4]
};

// Whether the stack kernel can compute `layer`: all groups read at most one step of inputs, whose
// rows have numbers that fit.
bool can_stack(const GroupedLayer& layer);

// Requires can_stack(layer).
StackLayer stack_layer(const GroupedLayer& layer);

// One layer in device memory.
struct StackView {
  const unsigned char* records = nullptr;
  std::uint32_t groups = 0;
};

// Consecutive layers in device memory, all with weights of as many parts.
class StackWeights {
 public:
  void add(const StackLayer& layer);  // returns when it is there
  void clear() { *this = {}; }

  std::uint32_t size() const { return static_cast<std::uint32_t>(views_.size()); }
  std::uint32_t parts() const { return parts_; }
  bool has_positive_bias() const { return has_positive_bias_; }
  std::uint32_t most_groups() const;

  // Device memory, [size()]. Valid until the next call of upload(), which comes after the last
  // add().
  const StackView* views() const { return device_views_.get(); }
  void upload() { device_views_ = winnow::upload(views_); }

 private:
  std::uint32_t parts_ = 1;
  bool has_positive_bias_ = false;
  std::vector<DeviceBuffer<std::uint32_t>> records_;
  std::vector<StackView> views_;
  DeviceBuffer<StackView> device_views_;
};

}  // namespace winnow::challenge
