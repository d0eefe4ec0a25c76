#include "runtime/device/gpu.h"

#include "runtime/device/cuda_check.h"

namespace winnow {

std::string missing_gpu_reason() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaSuccess) return count > 0 ? "" : "no device";
  cudaGetLastError();  // clears it
  if (status == cudaErrorNoDevice) return "no device";
  // Without any driver CUDA answers that the driver's version is insufficient.
  int driver = 0;
  if (cudaDriverGetVersion(&driver) == cudaSuccess && driver == 0) {
    return "no NVIDIA driver was found (libcuda.so.1)";
  }
  return std::string("the driver cannot be used: ") + cudaGetErrorString(status);
}

int gpu_count() {
  int count = 0;
  if (cudaGetDeviceCount(&count) == cudaSuccess) return count;
  cudaGetLastError();  // clears it
  return 0;
}

void check_gpu(int gpu) {
  const std::string reason = missing_gpu_reason();
  if (!reason.empty()) fail(ErrorCode::device, "GPU ", gpu, ": ", reason);
  int count = 0;
  CUDA_CHECK(cudaGetDeviceCount(&count));
  if (gpu < 0 || gpu >= count) {
    fail(ErrorCode::device, "there is no GPU ", gpu, ": this machine has ", count);
  }
}

void select_gpu(int gpu) {
  check_gpu(gpu);
  CUDA_CHECK(cudaSetDevice(gpu));
}

std::string gpu_name(int gpu) {
  check_gpu(gpu);
  cudaDeviceProp properties{};
  CUDA_CHECK(cudaGetDeviceProperties(&properties, gpu));
  return "cuda:" + std::to_string(gpu) + " (" + properties.name + ")";
}

std::string gpu_uuid(int gpu) {
  check_gpu(gpu);
  cudaDeviceProp properties{};
  CUDA_CHECK(cudaGetDeviceProperties(&properties, gpu));
  std::string digits;
  for (const char byte : properties.uuid.bytes) {
    const auto value = static_cast<unsigned char>(byte);
    digits += "0123456789abcdef"[value >> 4];
    digits += "0123456789abcdef"[value & 15];
  }
  return digits;
}

std::size_t usable_gpu_bytes() {
  std::size_t free = 0, total = 0;
  CUDA_CHECK(cudaMemGetInfo(&free, &total));
  return free - free / 20;
}

}  // namespace winnow
