// All layers for the gather kernel: in GPU memory, or where they do not fit, in page-locked host
// memory, from where each comes to the GPU while the one before is computed.
#pragma once

#include <cstddef>
#include <vector>

#include "runtime/challenge/network.h"
#include "runtime/device/buffer.h"
#include "runtime/device/stream.h"
#include "runtime/sparse/gather_weights.h"

namespace winnow::challenge {

class GatherLayers {
 public:
  // Layers are streamed if they are larger than `most_bytes` as a whole; 0 stands for three
  // quarters of the free GPU memory.
  GatherLayers(const Network& network, std::size_t most_bytes);

  bool is_streamed() const { return !host_.empty(); }

  // For each run through all layers, on one stream, which may be under capture: start(); then for
  // l = 0, 1, ...: work put on the stream between layer(l) and done(l) finds layer l.
  void start(cudaStream_t stream) const;
  GatherView layer(std::uint32_t l, cudaStream_t stream) const;
  void done(std::uint32_t l, cudaStream_t stream) const;

 private:
  void start_copy(std::uint32_t l) const;

  std::vector<GatherLayout> layouts_;
  std::vector<DeviceBuffer<uint4>> resident_;
  std::vector<PinnedBuffer<uint4>> host_;  // streamed: [layers]
  DeviceBuffer<uint4> slots_[2];           // layer l in slot l % 2
  Event started_, copied_[2], used_[2];
  Stream copies_;
};

}  // namespace winnow::challenge
