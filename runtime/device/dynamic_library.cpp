#include "runtime/device/dynamic_library.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <cstdlib>
#include <string_view>

#include "runtime/base/error.h"

namespace winnow {
namespace {

// Appends the parts of "a:b".
void append_folders(std::string_view list, std::vector<std::string>& folders) {
  while (!list.empty()) {
    const std::size_t colon = list.find(':');
    if (colon != 0) folders.emplace_back(list.substr(0, colon));
    if (colon == std::string_view::npos) break;
    list.remove_prefix(colon + 1);
  }
}

}  // namespace

DynamicLibrary DynamicLibrary::open(const std::vector<std::string>& names,
                                    const std::vector<std::string>& folders) {
  std::vector<std::string> paths;
  for (const std::string& folder : folders) {
    for (const std::string& name : names) paths.push_back(folder + "/" + name);
  }
  paths.insert(paths.end(), names.begin(), names.end());

  std::string looked;
  std::string answer;
  for (const std::string& path : paths) {
    DynamicLibrary library;
    library.handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
    library.path_ = path;
    if (library.handle_ != nullptr) return library;
    const char* reason = dlerror();
    answer = reason != nullptr ? reason : "unknown reason";
    looked += (looked.empty() ? "" : ", ") + path;
  }
  fail(ErrorCode::device, "cannot load ", names.empty() ? "a library" : names.front(),
       ": looked for ", looked, "; last answer: ", answer);
}

void* DynamicLibrary::address(const char* name) const {
  void* found = dlsym(handle_, name);
  if (found == nullptr) fail(ErrorCode::device, path_, ": has no function ", name);
  return found;
}

std::vector<std::string> library_folders(const char* variable, const std::string& package) {
  std::vector<std::string> folders;
  if (const char* folder = std::getenv(variable); folder != nullptr && *folder != '\0') {
    folders.emplace_back(folder);
  }
  if (const char* root = std::getenv("WINNOW_SITE_PACKAGES"); root != nullptr && *root != '\0') {
    const std::string packages = std::string(root) + "/nvidia/";
    folders.push_back(packages + "cu" + std::to_string(CUDART_VERSION / 1000) + "/lib");
    folders.push_back(packages + package + "/lib");
  }
  append_folders(WINNOW_LIBRARY_FOLDERS, folders);
  return folders;
}

}  // namespace winnow
