// Whether there is a GPU, and which.
#include <library_types.h>

#include <fstream>
#include <string>

#include "runtime/device/cuda_check.h"
#include "runtime/device/device_code.h"
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

std::string nccl_version(const DynamicLibrary& library) {
  int number = 0;
  library.function<int (*)(int*)>("ncclGetVersion")(&number);
  return joined(static_cast<std::size_t>(number));
}

// Facts of a library whose `function` returns its version as one number.
LibraryFacts numbered_facts(const std::string& name, DynamicLibrary (*open)(),
                            const char* function) {
  return facts_of(name, open, function, [function](const DynamicLibrary& library) {
    return joined(library.function<std::size_t (*)()>(function)());
  });
}

LibraryFacts cublaslt_facts() {
  return numbered_facts("cuBLASLt", open_cublaslt, "cublasLtGetVersion");
}

LibraryFacts cudnn_facts() {
  return numbered_facts("cuDNN", open_cudnn, "cudnnGetVersion");
}

// "NVIDIA H200, sm_90, 132 SMs"
std::string hardware(int gpu) {
  cudaDeviceProp properties{};
  CUDA_CHECK(cudaGetDeviceProperties(&properties, gpu));
  return std::string(properties.name) + ", sm_" + std::to_string(properties.major) +
         std::to_string(properties.minor) + ", " + std::to_string(properties.multiProcessorCount) +
         " SMs";
}

// "580.65.06", the kernel module's; where the system does not tell, the CUDA version that the
// driver supports.
std::string driver_version() {
  std::ifstream file("/proc/driver/nvidia/version");
  bool is_behind_name = false;
  for (std::string word; file >> word;) {
    const bool is_number = word.find_first_not_of("0123456789.") == std::string::npos;
    if (is_behind_name && is_number) return word;
    is_behind_name = is_behind_name || word == "Module";
  }
  int supported = 0;
  CUDA_CHECK(cudaDriverGetVersion(&supported));
  return "for CUDA " + version(supported);
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
  return {cublaslt_facts(), cudnn_facts(),
          facts_of("cuSPARSE", open_cusparse, "cusparseGetProperty", cusparse_version),
          facts_of("NCCL", open_nccl, "ncclGetVersion", nccl_version)};
}

TimingPlace gpu_timing_place(int gpu) {
  check_gpu(gpu);
  int runtime = 0;
  CUDA_CHECK(cudaRuntimeGetVersion(&runtime));
  std::string software = "driver " + driver_version() + ", CUDA " + version(runtime);
  for (const LibraryFacts& library : {cudnn_facts(), cublaslt_facts()}) {
    const bool is_there = !library.version.empty();
    software += is_there ? ", " + library.name + " " + library.version : ", no " + library.name;
  }
  // Code that was compiled for 9.0 has kernels, clusters and overlapping launches that other has
  // not.
  software += runs_hopper_code() ? ", code for 9.0" : ", no code for 9.0";
  return {hardware(gpu), software + ", " + timing_version()};
}

std::string gpu_unavailable_reason() {
  return missing_gpu_reason();
}

bool gpu_is_available() {
  return gpu_unavailable_reason().empty();
}

std::string gpu_description(int gpu) {
  check_gpu(gpu);
  int driver = 0, runtime = 0;
  CUDA_CHECK(cudaDriverGetVersion(&driver));
  CUDA_CHECK(cudaRuntimeGetVersion(&runtime));
  return hardware(gpu) + ", driver " + version(driver) + ", runtime " + version(runtime) + ", " +
         describe_cudnn();
}

}  // namespace winnow
