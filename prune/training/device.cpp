#include "prune/training/device.h"

#include <ATen/Parallel.h>
#include <dlfcn.h>
#include <torch/cuda.h>

#include <filesystem>

#include "prune/training/cuda_module.h"
#include "runtime/base/device_name.h"
#include "runtime/base/error.h"

namespace winnow {
namespace {

// Beside the libtorch_cpu.so in use, which need not be the one of the build.
std::string cuda_library() {
  Dl_info info;
  const bool is_found = dladdr(reinterpret_cast<void*>(&at::get_num_threads), &info) != 0;
  const std::filesystem::path loaded = is_found ? info.dli_fname : "";
  return (loaded.parent_path() / "libtorch_cuda.so").string();
}

// A container may have any of the machine's GPUs, but it has the driver's control device.
bool has_driver() {
  std::error_code ignored;
  return std::filesystem::exists("/dev/nvidiactl", ignored) && dlopen("libcuda.so.1", RTLD_NOW);
}

// What keeps this machine from using a GPU; empty if nothing does.
std::string open_cuda() {
  if (!has_driver()) return "no NVIDIA driver was found (libcuda.so.1, /dev/nvidiactl)";
  const std::string library = cuda_library();
  std::error_code ignored;
  if (!std::filesystem::exists(library, ignored)) {
    return "this LibTorch was built without CUDA (no " + library + ")";
  }
  if (!dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL)) {
    const char* reason = dlerror();
    return library + ": " + (reason ? reason : "cannot be opened");
  }
  if (!torch::cuda::is_available()) return "LibTorch finds no usable GPU";
  return "";
}

torch::Device gpu_device(int index) {
  if (const std::string reason = open_cuda(); !reason.empty()) {
    fail(ErrorCode::device, "device: a GPU was asked for, but ", reason);
  }
  // NOLINTNEXTLINE(bugprone-signed-char-misuse): LibTorch counts devices in 8 bits.
  const auto count = static_cast<int>(torch::cuda::device_count());
  if (index >= count) {
    fail(ErrorCode::device, "device: found ", count, " GPUs, cuda:", index, " was asked for");
  }
  return torch::Device(torch::kCUDA, static_cast<torch::DeviceIndex>(index));
}

// The driver's name of GPU `index`, read without CUDA's headers.
std::string gpu_name(int index) {
  using GetName = int (*)(char*, int, int);
  void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  const auto get_name =
      driver ? reinterpret_cast<GetName>(dlsym(driver, "cuDeviceGetName")) : nullptr;
  char name[128] = "";
  return get_name && get_name(name, sizeof name, index) == 0 ? name : "unknown GPU";
}

}  // namespace

torch::Device resolve_device(const std::string& name, std::int64_t local_rank) {
  const Device device = device_from(name);
  const bool is_open = name.find(':') == std::string::npos;
  if (device.kind == Device::Kind::cpu) return torch::kCPU;
  if (device.kind == Device::Kind::automatic && !open_cuda().empty()) return torch::kCPU;
  const torch::Device first = gpu_device(device.index);
  if (!is_open || local_rank == 0) return first;
  return gpu_device(static_cast<int>(local_rank) % static_cast<int>(torch::cuda::device_count()));
}

std::int64_t peak_gpu_bytes(const torch::Device& device) {
  if (!device.is_cuda()) return 0;
  using Ask = std::int64_t (*)(int device);
  const auto ask =
      reinterpret_cast<Ask>(module_function(WINNOW_CUDA_STEPS, "winnow_peak_gpu_bytes"));
  return ask ? ask(device.index()) : 0;
}

std::string describe_device(const torch::Device& device) {
  if (device.is_cpu()) {
    const int threads = at::get_num_threads();
    return "cpu (" + std::to_string(threads) + (threads == 1 ? " thread)" : " threads)");
  }
  return device.str() + " (" + gpu_name(device.index()) + ")";
}

}  // namespace winnow
