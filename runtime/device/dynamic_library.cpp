#include "runtime/device/dynamic_library.h"

#include <dlfcn.h>

#include <cstdlib>

#include "runtime/base/error.h"

namespace winnow {

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

std::vector<std::string> library_folders(const char* variable,
                                         const std::vector<std::string>& package_folders,
                                         const std::vector<std::string>& build_folders) {
  std::vector<std::string> folders;
  if (const char* folder = std::getenv(variable); folder != nullptr && *folder != '\0') {
    folders.push_back(folder);
  }
  if (const char* root = std::getenv("WINNOW_SITE_PACKAGES"); root != nullptr && *root != '\0') {
    for (const std::string& below : package_folders) {
      folders.push_back(std::string(root) + "/" + below);
    }
  }
  for (const std::string& folder : build_folders) {
    if (!folder.empty()) folders.push_back(folder);
  }
  return folders;
}

}  // namespace winnow
