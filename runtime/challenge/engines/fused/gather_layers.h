// All layers for the gather kernel: in GPU memory, or where they do not fit, in page-locked host
// memory, from where each comes to the GPU while the one before is computed. Outputs that read the
// same inputs are computed together, four by four.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "runtime/challenge/engines/gpu/layer_uploads.h"
#include "runtime/challenge/network.h"
#include "runtime/device/buffer.h"
#include "runtime/device/stream.h"
#include "runtime/sparse/gather_weights.h"

namespace winnow::challenge {

class GatherLayers {
 public:
  // Layers are streamed if they are larger than `most_bytes` as a whole; 0 stands for three
  // quarters of the free GPU memory. They are read and packed on `threads` threads (0: all cores)
  // and copied meanwhile. Calls `loading`, if there is one, with (layers done, layers in all).
  GatherLayers(const Network& network, std::size_t most_bytes, int threads,
               const std::function<void(std::uint32_t, std::uint32_t)>& loading);

  bool is_streamed() const { return !host_.empty(); }

  // Of all outputs, those in quads (gather_weights.h).
  double share_in_quads() const {
    return static_cast<double>(in_quads_) /
           static_cast<double>(std::max<std::uint64_t>(outputs_, 1));
  }

  // For each run through all layers, on one stream, which may be under capture: start(); then for
  // l = 0, 1, ...: work put on the stream between layer(l) and done(l) finds layer l.
  void start(cudaStream_t stream) const;
  GatherView layer(std::uint32_t l, cudaStream_t stream) const;
  void done(std::uint32_t l, cudaStream_t stream) const;

 private:
  struct Packed;
  void keep_in_host_memory(const std::vector<uint4>& piece);
  void start_copy(std::uint32_t l) const;

  std::uint64_t in_quads_ = 0, outputs_ = 0;
  std::vector<GatherLayout> layouts_;
  DeviceChunks memory_;
  std::vector<std::byte*> resident_;       // in memory_: [layers], or none
  std::vector<PinnedBuffer<uint4>> host_;  // streamed: [layers]
  DeviceBuffer<uint4> slots_[2];           // layer l in slot l % 2
  Event started_, copied_[2], used_[2];
  Stream copies_;
};

}  // namespace winnow::challenge
