// Whether there is a GPU, and which.
#include <string>

#include "runtime/device/cuda_check.h"
#include "runtime/kernels/gpu_session.h"
#include "runtime/kernels/library_places.h"

namespace winnow {
namespace {

std::string version(int number) {
  return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

}  // namespace

std::string gpu_unavailable_reason() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaSuccess) return count > 0 ? "" : "no device";
  cudaGetLastError();  // clears it
  if (status == cudaErrorNoDevice) return "no device";
  return std::string("no driver: ") + cudaGetErrorString(status);
}

bool gpu_is_available() {
  return gpu_unavailable_reason().empty();
}

std::string gpu_description(int gpu) {
  const std::string reason = gpu_unavailable_reason();
  if (!reason.empty()) fail(ErrorCode::device, "GPU ", gpu, ": ", reason);
  int count = 0;
  CUDA_CHECK(cudaGetDeviceCount(&count));
  if (gpu < 0 || gpu >= count) {
    fail(ErrorCode::device, "there is no GPU ", gpu, ": this machine has ", count);
  }
  cudaDeviceProp properties{};
  int driver = 0, runtime = 0;
  CUDA_CHECK(cudaGetDeviceProperties(&properties, gpu));
  CUDA_CHECK(cudaDriverGetVersion(&driver));
  CUDA_CHECK(cudaRuntimeGetVersion(&runtime));
  return std::string(properties.name) + ", sm_" + std::to_string(properties.major) +
         std::to_string(properties.minor) + ", " + std::to_string(properties.multiProcessorCount) +
         " SMs, driver " + version(driver) + ", runtime " + version(runtime) + ", " +
         describe_cudnn();
}

}  // namespace winnow
