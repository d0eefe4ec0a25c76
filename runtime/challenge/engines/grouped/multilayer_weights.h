// The weights of layers as multilayer_kernel reads them. A layer is a list of records, one for each
// group. kComputeWarps consecutive records are a stage, which the kernel copies to shared memory as
// a whole; each of its warps computes a group of the stage.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/challenge/engines/grouped/layout/grouped_layer.h"
#include "runtime/device/buffer.h"
#include "runtime/device/host_device.h"

namespace winnow::challenge {

inline constexpr std::uint32_t kComputeWarps = 16;  // of a block

// A record is [term][fragment][32 lanes] uint4 of weights (GroupedLayer::weight of one step), then
// this.
struct alignas(16) RecordTail {
  // [matrix][i]: swizzled_row() of the input of column 8 matrix + i. The 8 rows of a matrix, which
  // one ldmatrix reads, lie in different banks if the inputs allow it.
  std::uint16_t input[4][8];
  float bias[8][2];  // of the outputs n and n + 8
};

inline constexpr std::uint32_t kRecordTermBytes = kStepInputs * kGroupOutputs * 2;
inline std::size_t record_bytes(std::uint32_t weight_terms) {
  return std::size_t{weight_terms} * kRecordTermBytes + sizeof(RecordTail);
}

// Where the images 0 to 7 of row r begin in shared memory, in multiples of 16 bytes; the images 8
// to 15 begin at the place whose lowest bit is the opposite. Any 8 rows whose numbers differ modulo
// 8 meet every bank once.
WINNOW_HOST_DEVICE constexpr std::uint32_t swizzled_row(std::uint32_t r) {
  return 2 * r + r / 4 % 2;
}

// One layer in host memory.
struct PackedLayer {
  std::uint32_t groups = 0;
  std::uint32_t weight_terms = 1;
  bool has_positive_bias = false;
  std::vector<std::uint32_t> records;  // [groups][record_bytes / 4]
};

// Whether multilayer_kernel can compute `layer`: no group reads more than one step of inputs, and
// every swizzled_row() fits 16 bits.
bool can_pack(const GroupedLayer& layer);

// Requires can_pack(layer).
PackedLayer pack_layer(const GroupedLayer& layer);

// One layer in device memory.
struct PackedLayerView {
  const unsigned char* records = nullptr;
  std::uint32_t groups = 0;
};

// Consecutive layers in device memory, all with weights of as many terms.
class MultilayerWeights {
 public:
  // Appends a layer; returns when it is copied. Throws Error{device} if memory runs out.
  void add(const PackedLayer& layer);
  void clear() { *this = {}; }

  std::uint32_t size() const { return static_cast<std::uint32_t>(views_.size()); }  // layers
  std::uint32_t weight_terms() const { return weight_terms_; }
  bool has_positive_bias() const { return has_positive_bias_; }  // of any layer
  std::uint32_t most_groups() const;                             // of any layer

  // [size()], in device memory, as the last upload() copied them: call it after the last add().
  const PackedLayerView* views() const { return device_views_.get(); }
  void upload() { device_views_ = winnow::upload(views_); }

 private:
  std::uint32_t weight_terms_ = 1;
  bool has_positive_bias_ = false;
  std::vector<DeviceBuffer<std::uint32_t>> records_;
  std::vector<PackedLayerView> views_;
  DeviceBuffer<PackedLayerView> device_views_;
};

}  // namespace winnow::challenge
