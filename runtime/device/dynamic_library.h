// Libraries that are opened only when a layer wants them.
#pragma once

#include <string>
#include <vector>

namespace winnow {

// An open shared library; move-only. It stays loaded for the life of the process, since CUDA
// libraries do not survive being unloaded while a context lives.
class DynamicLibrary {
 public:
  // Tries every name in every folder, then every name by the loader's own search.
  // Throws Error{device} that lists where it looked and the loader's last answer.
  static DynamicLibrary open(const std::vector<std::string>& names,
                             const std::vector<std::string>& folders);

  const std::string& path() const { return path_; }

  // Address of a function. Throws Error{device} if the library does not have it.
  template <typename Function>
  Function function(const char* name) const {
    return reinterpret_cast<Function>(address(name));
  }

 private:
  void* address(const char* name) const;

  void* handle_ = nullptr;
  std::string path_;
};

// Folders for a library of NVIDIA's, in this order: the environment variable `variable`;
// WINNOW_SITE_PACKAGES (a Python site-packages folder) with nvidia/cuN/lib, N being CUDA's version,
// and nvidia/`package`/lib below it; the folders known when this was built.
std::vector<std::string> library_folders(const char* variable, const std::string& package);

}  // namespace winnow
