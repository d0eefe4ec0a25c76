// Whether there is a GPU, and which.
#include <library_types.h>

#include <string>

#include "runtime/device/cuda_check.h"
#include "runtime/device/dynamic_library.h"
#include "runtime/device/gpu.h"
#include "runtime/gpu/session/gpu_session.h"
#include "runtime/gpu/vendor/library_places.h"

namespace winnow {
namespace {

std::string version(int number) {
  return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

// Opens a library and asks it for its version: `version` gets the library and returns the text.
template <typename Version>
LibraryFacts facts_of(const std::string& name, const std::string& file, const char* variable,
                      const std::string& package, const char* function, Version version) {
  try {
    const DynamicLibrary library = DynamicLibrary::open({file}, library_folders(variable, package));
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

}  // namespace

std::vector<LibraryFacts> gpu_libraries() {
  const auto number_of = [](const char* function) {
    return [function](const DynamicLibrary& library) {
      return joined(library.function<std::size_t (*)()>(function)());
    };
  };
  const std::string cuda = std::to_string(CUDART_VERSION / 1000);
  preload_cublaslt();  // cuDNN wants the same one
  return {facts_of("cuBLASLt", "libcublasLt.so." + cuda, "WINNOW_CUBLAS_DIR", "cublas",
                   "cublasLtGetVersion", number_of("cublasLtGetVersion")),
          facts_of("cuDNN", "libcudnn.so.9", "WINNOW_CUDNN_DIR", "cudnn", "cudnnGetVersion",
                   number_of("cudnnGetVersion")),
          facts_of("cuSPARSE", "libcusparse.so.12", "WINNOW_CUSPARSE_DIR", "cusparse",
                   "cusparseGetProperty", cusparse_version)};
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
