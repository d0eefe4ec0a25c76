#include "prune/training/device.h"

#include <ATen/Parallel.h>
#include <dlfcn.h>
#include <torch/cuda.h>

#include <charconv>
#include <filesystem>
#include <optional>
#include <string_view>

#include "runtime/base/error.h"

namespace winnow {
namespace {

// Beside the libtorch_cpu.so in use, which need not be the one of the build.
std::string cuda_library() {
  Dl_info info;
  const bool is_found = dladdr(reinterpret_cast<void*>(&at::get_num_threads), &info) != 0;
  const std::filesystem::path loaded = is_found ? info.dli_fname : "";
  const bool is_torch = loaded.filename().string().starts_with("libtorch");
  const std::filesystem::path folder = is_torch ? loaded.parent_path() : WINNOW_TORCH_LIB_DIR;
  return (folder / "libtorch_cuda.so").string();
}

bool has_driver() {
  std::error_code ignored;
  return std::filesystem::exists("/dev/nvidia0", ignored) && dlopen("libcuda.so.1", RTLD_NOW);
}

// What keeps this machine from using a GPU; empty if nothing does.
std::string open_cuda() {
  if (!has_driver()) return "no NVIDIA driver was found (libcuda.so.1, /dev/nvidia0)";
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

// The number behind "cuda:", 0 without one; nothing if `name` is no GPU's name.
std::optional<int> gpu_index(std::string_view name) {
  if (name == "cuda") return 0;
  if (!name.starts_with("cuda:")) return std::nullopt;
  const std::string_view digits = name.substr(5);
  int index = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
  const bool is_number = error == std::errc() && end == digits.data() + digits.size();
  return is_number && index >= 0 && index < 128 ? std::optional(index) : std::nullopt;
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

torch::Device resolve_device(const std::string& name) {
  if (name == "cpu") return torch::kCPU;
  if (name == "auto") return open_cuda().empty() ? torch::Device(torch::kCUDA, 0) : torch::kCPU;
  if (const std::optional<int> index = gpu_index(name)) return gpu_device(*index);
  fail(ErrorCode::usage, "device: found '", name, "', expected auto, cpu, cuda or cuda:N");
}

std::string describe_device(const torch::Device& device) {
  if (device.is_cpu()) return "cpu (" + std::to_string(at::get_num_threads()) + " threads)";
  return device.str() + " (" + gpu_name(device.index()) + ")";
}

}  // namespace winnow
