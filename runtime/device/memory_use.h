// How much device memory the buffers of this process take.
#pragma once

#include <atomic>
#include <cstddef>

namespace winnow {

// A number of bytes and the highest that it has been. Any thread may call.
class MemoryUse {
 public:
  void add(std::size_t bytes) {
    const std::size_t now = now_.fetch_add(bytes) + bytes;
    std::size_t peak = peak_.load();
    while (peak < now && !peak_.compare_exchange_weak(peak, now)) {
    }
  }
  void remove(std::size_t bytes) { now_.fetch_sub(bytes); }

  std::size_t now() const { return now_.load(); }
  std::size_t peak() const { return peak_.load(); }  // since restart_peak()
  void restart_peak() { peak_.store(now_.load()); }

 private:
  std::atomic<std::size_t> now_ = 0, peak_ = 0;
};

// Of all DeviceBuffers on all GPUs; what CUDA and NVIDIA's libraries take for themselves is not in
// it.
inline MemoryUse device_memory_use;

}  // namespace winnow
