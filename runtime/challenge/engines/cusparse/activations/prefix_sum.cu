#include <cub/device/device_scan.cuh>

#include "runtime/challenge/engines/cusparse/activations/prefix_sum.h"
#include "runtime/device/cuda_check.h"

namespace winnow::challenge {
namespace {

struct Plus {
  __host__ __device__ std::int32_t operator()(std::int32_t a, std::int32_t b) const {
    return a + b;
  }
};

cudaError_t scan(void* workspace, std::size_t& bytes, const std::int32_t* values,
                 std::int32_t* sums, std::int32_t count, std::int32_t first, cudaStream_t stream) {
  return cub::DeviceScan::ExclusiveScan(workspace, bytes, values, sums, Plus{}, first, count,
                                        stream);
}

}  // namespace

PrefixSum::PrefixSum(std::int32_t most) {
  std::size_t bytes = 0;
  CUDA_CHECK(scan(nullptr, bytes, nullptr, nullptr, most, 0, nullptr));
  workspace_ = DeviceBuffer<std::byte>(bytes);
}

void PrefixSum::run(const std::int32_t* values, std::int32_t* sums, std::int32_t count,
                    std::int32_t first, cudaStream_t stream) {
  std::size_t bytes = workspace_.bytes();
  CUDA_CHECK(scan(workspace_.get(), bytes, values, sums, count, first, stream));
}

}  // namespace winnow::challenge
