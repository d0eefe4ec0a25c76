// Whether there is a GPU, and which.
#include <library_types.h>

#include <string>

#include "runtime/device/cuda_check.h"
#include "runtime/device/gpu.h"
#include "runtime/device/nvidia_libraries.h"
#include "runtime/gpu/session/gpu_session.h"

#ifdef WINNOW_HAS_CUDNN
#include "runtime/gpu/vendor/cudnn_library.h"
#endif

namespace winnow {
namespace {

std::string version(int number) {
  return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

// Opens a library as its users do and asks it for its version: `version` gets the library and
// returns the text. `function` is one that the library has, which tells its file.
template <typename Version>
LibraryFacts facts_of(const std::string& name, DynamicLibrary (*open)(), const char* function,
                      Version version) {
  try {
    const DynamicLibrary library = open();
    const auto address = library.function<void (*)()>(function);
    return {name, version(library), library_file_of(reinterpret_cast<const void*>(address)), ""};
  } catch (const Error& error) {
    return {name, "", "", error.what()};
  }
}

// "9.19.0" from 91900.
std::string joined(std::size_t number) {
  return std::to_string(number / 10000) + "." + std::to_string(number / 100 % 100) + "." +
         std::to_string(number % 100);
}

std::string cusparse_version(const DynamicLibrary& library) {
  using Get = int (*)(libraryPropertyType, int*);
  const auto get = library.function<Get>("cusparseGetProperty");
  int major = 0, minor = 0, patch = 0;
  get(MAJOR_VERSION, &major);
  get(MINOR_VERSION, &minor);
  get(PATCH_LEVEL, &patch);
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

// "cuDNN 9.19", or why there is none.
std::string describe_cudnn() {
#ifdef WINNOW_HAS_CUDNN
  try {
    const std::size_t version = Cudnn::get().cudnnGetVersion();
    return "cuDNN " + std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100);
  } catch (const Error&) {
    return "no cuDNN";
  }
#else
  return "built without cuDNN headers";
#endif
}

}  // namespace

std::vector<LibraryFacts> gpu_libraries() {
  const auto number_of = [](const char* function) {
    return [function](const DynamicLibrary& library) {
      return joined(library.function<std::size_t (*)()>(function)());
    };
  };
  return {
      facts_of("cuBLASLt", open_cublaslt, "cublasLtGetVersion", number_of("cublasLtGetVersion")),
      facts_of("cuDNN", open_cudnn, "cudnnGetVersion", number_of("cudnnGetVersion")),
      facts_of("cuSPARSE", open_cusparse, "cusparseGetProperty", cusparse_version)};
}

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
