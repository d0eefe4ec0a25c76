// Part of the module that step_graph.cpp opens: what LibTorch's allocator says of itself.
#include <c10/cuda/CUDACachingAllocator.h>

#include <cstdint>

extern "C" __attribute__((visibility("default"))) std::int64_t winnow_peak_gpu_bytes(int device) {
  constexpr std::size_t kAll = 0;  // StatType::AGGREGATE: large and small blocks
  const auto index = static_cast<c10::DeviceIndex>(device);
  return c10::cuda::CUDACachingAllocator::getDeviceStats(index).reserved_bytes[kAll].peak;
}
