#include "prune/training/step_graph.h"

#include <dlfcn.h>

#include <filesystem>
#include <string>

#include "runtime/base/error.h"

namespace winnow {
namespace {

using MakeStepGraph = StepGraph* (*)(int device);

// Beside the program that runs.
std::filesystem::path module_path() {
  std::error_code ignored;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", ignored);
  return program.parent_path() / WINNOW_CUDA_STEPS;
}

MakeStepGraph open_module() {
  const std::filesystem::path path = module_path();
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return nullptr;
  void* module = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!module) {
    const char* reason = dlerror();
    fail(ErrorCode::device, path.string(), ": ", reason ? reason : "cannot be opened");
  }
  return reinterpret_cast<MakeStepGraph>(dlsym(module, "winnow_make_step_graph"));
}

}  // namespace

std::unique_ptr<StepGraph> make_step_graph(const torch::Device& device) {
  if (!device.is_cuda()) return nullptr;
  static const MakeStepGraph make = open_module();
  return std::unique_ptr<StepGraph>(make ? make(device.index()) : nullptr);
}

}  // namespace winnow
