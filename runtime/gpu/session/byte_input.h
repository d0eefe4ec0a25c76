// Runs of a network on bytes in place of floats.
#pragma once

#include <cstdint>
#include <span>

#include "runtime/device/buffer.h"
#include "runtime/device/graph.h"
#include "runtime/gpu/session/device_network.h"

namespace winnow {

// Its memory and its graph are made with the first bytes, since most sessions never get some.
class ByteInput {
 public:
  // Enqueues the network on `bytes`, [N, C, H, W] in host memory, which may change once the stream
  // has been waited for. As a graph if `records`. Requires network.reads_bytes(), and the same
  // network and number of bytes in every call. Throws Error{device} if memory runs out.
  void enqueue(const DeviceNetwork& network, std::span<const std::uint8_t> bytes, bool records,
               cudaStream_t stream);

 private:
  PinnedBuffer<std::uint8_t> host_;
  DeviceBuffer<std::uint8_t> device_;
  DeviceGraph graph_;
};

}  // namespace winnow
