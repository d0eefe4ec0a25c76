// Whether there is a GPU, and which.
#include <string>

#include "runtime/device/cuda_check.h"
#include "runtime/device/gpu.h"
#include "runtime/gpu/session/gpu_session.h"
#include "runtime/gpu/vendor/library_places.h"

namespace winnow {
namespace {

std::string version(int number) {
  return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

}  // namespace

std::string gpu_unavailable_reason() {
  return missing_gpu_reason();
}

bool gpu_is_available() {
  return gpu_unavailable_reason().empty();
}

std::string gpu_description(int gpu) {
  check_gpu(gpu);
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
