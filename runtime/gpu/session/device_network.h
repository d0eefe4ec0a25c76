// A network in device memory, ready to run, whatever its parts.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/device/buffer.h"

namespace winnow {

class DeviceNetwork {
 public:
  virtual ~DeviceNetwork() = default;

  // Row-major fp32, in device memory; the input's stays as it is during a run.
  virtual float* input() const = 0;
  virtual const float* output() const = 0;

  // Enqueues the whole network.
  virtual void enqueue(cudaStream_t stream) const = 0;

  // Whether every step that reads the input can read it as bytes.
  virtual bool reads_bytes() const = 0;

  // Enqueues the whole network on bytes [N, C, H, W] in device memory in place of input(). Requires
  // reads_bytes().
  virtual void enqueue_on_bytes(const std::uint8_t* bytes, cudaStream_t stream) const = 0;

  // Enqueues step `i` with the conversions before it (and, for the last step, after it).
  virtual void enqueue_step(std::size_t i, cudaStream_t stream) const = 0;

  // Whether step `i` needs no work (a flattening whose input lies right).
  virtual bool is_free(std::size_t i) const = 0;

  // Runs the network step by step. The value of every step, row-major in host memory; empty for one
  // that a later step computes. Slow.
  virtual std::vector<std::vector<float>> step_values(cudaStream_t stream) const = 0;
};

// Device memory that networks share which never run at the same time: as large as the one that
// needs most. Memory once taken stays where it is.
class SharedMemory {
 public:
  // At least `bytes`, not initialised; null for 0. Throws Error{device} if memory runs out.
  std::byte* take(std::size_t bytes) {
    if (bytes == 0) return nullptr;
    if (blocks_.empty() || blocks_.back().bytes() < bytes) blocks_.emplace_back(bytes);
    return blocks_.back().get();
  }

 private:
  std::vector<DeviceBuffer<std::byte>> blocks_;  // each larger than the one before
};

// What the networks of a session share.
struct NetworkMemory {
  SharedMemory input, values, workspace;
};

}  // namespace winnow
