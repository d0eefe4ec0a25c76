#include "runtime/device/nvidia_libraries.h"

#include <cuda_runtime_api.h>
#include <cusparse.h>

#include "runtime/base/error.h"

namespace winnow {
namespace {

std::string file_of(const std::string& name, int version) {
  return name + ".so." + std::to_string(version);
}

constexpr int kCudaMajor = CUDART_VERSION / 1000;

// Libraries need others. Loading the one beside them first keeps another version on the loader's
// path from being taken.
template <typename Open>
void preload(Open open) {
  try {
    open();
  } catch (const Error&) {  // opening the library that needs it says what is missing
  }
}

}  // namespace

DynamicLibrary open_cublaslt() {
  return DynamicLibrary::open({file_of("libcublasLt", kCudaMajor)},
                              library_folders("WINNOW_CUBLAS_DIR", "cublas"));
}

DynamicLibrary open_cudnn() {
  preload(open_cublaslt);
  DynamicLibrary cudnn = DynamicLibrary::open({file_of("libcudnn", kCudnnMajor)},
                                              library_folders("WINNOW_CUDNN_DIR", "cudnn"));
  const std::size_t version = cudnn.function<std::size_t (*)()>("cudnnGetVersion")();
  if (version / 10000 != kCudnnMajor) {
    fail(ErrorCode::device, cudnn.path(), ": is cuDNN ", version, ", expected version ",
         kCudnnMajor);
  }
  return cudnn;
}

DynamicLibrary open_cusparse() {
  const std::vector<std::string> folders = library_folders("WINNOW_CUSPARSE_DIR", "cusparse");
  preload([&] { DynamicLibrary::open({file_of("libnvJitLink", kCudaMajor)}, folders); });
  return DynamicLibrary::open({file_of("libcusparse", CUSPARSE_VER_MAJOR)}, folders);
}

DynamicLibrary open_nccl() {
  return DynamicLibrary::open({file_of("libnccl", 2)}, library_folders("WINNOW_NCCL_DIR", "nccl"));
}

}  // namespace winnow
