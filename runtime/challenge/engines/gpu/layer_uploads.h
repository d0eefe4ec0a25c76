// Layers on their way to the device: page-locked memory that threads fill, and device memory in few
// allocations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/device/buffer.h"
#include "runtime/device/stream.h"

namespace winnow::challenge {

// Device memory for many layers.
class DeviceChunks {
 public:
  // Memory that begins at a multiple of 256. `layers`: how many about as large are still to come,
  // this one with them. Throws Error{device} if memory runs out.
  std::byte* take(std::size_t bytes, std::uint32_t layers);

 private:
  std::vector<DeviceBuffer<std::byte>> chunks_;
  std::size_t used_ = 0;  // of the last chunk
};

// How large a chunk to make for a layer of so many bytes and those that follow it.
std::size_t chunk_bytes(std::size_t bytes, std::uint32_t layers);

// Page-locked memory in slots, for the device that is current in the thread of the constructor and
// of copy().
class LayerUploads {
 public:
  explicit LayerUploads(std::uint32_t slots);

  // At least so many bytes, whatever is in them; grows a slot if need be, and makes the device the
  // calling thread's. Threads may call for different slots at the same time.
  std::span<std::byte> memory(std::uint32_t slot, std::size_t bytes);

  // Copies the slot's first bytes to device memory; returns when they are there.
  void copy(std::uint32_t slot, std::size_t bytes, std::byte* to) const;

 private:
  int gpu_ = 0;
  std::vector<PinnedBuffer<std::byte>> slots_;
  Stream stream_;
};

}  // namespace winnow::challenge
