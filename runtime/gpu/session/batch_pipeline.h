// Batches of samples in host memory, one computed while its neighbours are copied.
#pragma once

#include <array>
#include <cstdint>
#include <functional>

#include "runtime/device/buffer.h"
#include "runtime/device/stream.h"
#include "runtime/plan/session.h"

namespace winnow {

// Two batches are under way at a time, each in page-locked memory and in device memory of its own:
// one is read, or copied to the device or back, while the other is computed.
class BatchPipeline {
 public:
  // Enqueues the computation of samples in device memory.
  using Compute = std::function<void(const float* input, std::int64_t samples, float* output)>;

  // For batches of up to so many floats. Throws Error{device} if memory runs out.
  BatchPipeline(std::size_t inputs, std::size_t outputs);

  // Runs all samples; `compute` enqueues on `stream`. Returns when the last output is written.
  void run(const SampleStream& samples, cudaStream_t stream, const Compute& compute);

 private:
  struct Slot {
    PinnedBuffer<float> in, out;
    DeviceBuffer<float> device_in, device_out;
    Event copied_in{false}, computed{false}, copied_out{false};
    std::int64_t first = 0;
    std::int64_t count = 0;  // 0: nothing is under way
  };

  void begin(Slot& slot, const SampleStream& samples, cudaStream_t stream, const Compute& compute);
  static void finish(Slot& slot, const SampleStream& samples);

  Stream copies_in_, copies_out_;
  std::array<Slot, 2> slots_;
};

}  // namespace winnow
