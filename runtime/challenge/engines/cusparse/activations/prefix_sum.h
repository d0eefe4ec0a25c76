// Prefix sums in device memory.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "runtime/device/buffer.h"

namespace winnow::challenge {

class PrefixSum {
 public:
  PrefixSum() = default;
  explicit PrefixSum(std::int32_t most);  // the most values in a call

  // sums[i] = first + values[0] + ... + values[i - 1] for i < count <= most. Asynchronous.
  void run(const std::int32_t* values, std::int32_t* sums, std::int32_t count, std::int32_t first,
           cudaStream_t stream);

 private:
  DeviceBuffer<std::byte> workspace_;
};

}  // namespace winnow::challenge
