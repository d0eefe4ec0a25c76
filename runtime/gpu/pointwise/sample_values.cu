#include "runtime/gpu/pointwise/sample_values.h"
#include "runtime/device/buffer.h"
#include "runtime/gpu/pointwise/convert.h"

namespace winnow {
namespace {

constexpr int kThreads = 256;

// ---------------------------------------------------------------------------------- device

__global__ void __launch_bounds__(kThreads)
    sample_kernel(const float* values, const std::int64_t* positions, int count, float* samples) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i < count) samples[i] = values[positions[i]];
}

}  // namespace

// ------------------------------------------------------------------------------------ host

std::vector<float> sample_values(const ActivationView& view,
                                 const std::vector<std::int64_t>& positions, void* row_major,
                                 cudaStream_t stream) {
  std::vector<float> samples(positions.size());
  if (samples.empty()) return samples;
  convert(view, {row_major, winnow::row_major(Precision::f32), view.size}, stream);
  const auto indices = upload(positions);
  const DeviceBuffer<float> buffer(samples.size());
  const int count = static_cast<int>(samples.size());
  sample_kernel<<<(count + kThreads - 1) / kThreads, kThreads, 0, stream>>>(
      static_cast<const float*>(row_major), indices.get(), count, buffer.get());
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaStreamSynchronize(stream));
  CUDA_CHECK(cudaMemcpy(samples.data(), buffer.get(), buffer.bytes(), cudaMemcpyDeviceToHost));
  return samples;
}

}  // namespace winnow
