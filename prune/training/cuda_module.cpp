#include "prune/training/cuda_module.h"

#include <dlfcn.h>

#include <filesystem>

#include "runtime/base/error.h"

namespace winnow {

void* module_function(const char* file, const char* name) {
  std::error_code ignored;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", ignored);
  const std::filesystem::path path = program.parent_path() / file;
  if (!std::filesystem::exists(path, ignored)) return nullptr;
  void* module = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!module) {
    const char* reason = dlerror();
    fail(ErrorCode::device, path.string(), ": ", reason ? reason : "cannot be opened");
  }
  return dlsym(module, name);
}

}  // namespace winnow
