// What a buffer in device memory holds.
#pragma once

#include <vector>

#include "runtime/device/buffer.h"

namespace winnow::challenge {

template <typename T>
std::vector<T> download(const DeviceBuffer<T>& device) {
  std::vector<T> values(device.count());
  CUDA_CHECK(cudaMemcpy(values.data(), device.get(), device.bytes(), cudaMemcpyDeviceToHost));
  return values;
}

}  // namespace winnow::challenge
