#include "runtime/kernels/library_places.h"

#include <exception>

#include "runtime/kernels/cublaslt_library.h"

#ifdef WINNOW_HAS_CUDNN
#include "runtime/kernels/cudnn_library.h"
#endif

namespace winnow {

std::vector<std::string> split_folders(std::string_view list) {
  std::vector<std::string> folders;
  while (!list.empty()) {
    const std::size_t colon = list.find(':');
    if (colon != 0) folders.emplace_back(list.substr(0, colon));
    if (colon == std::string_view::npos) break;
    list.remove_prefix(colon + 1);
  }
  return folders;
}

bool preload_cublaslt() noexcept {
  try {
    CublasLt::get();
    return true;
  } catch (const std::exception&) {
    return false;  // whoever really needs it reports why
  }
}

std::string describe_cudnn() noexcept {
#ifdef WINNOW_HAS_CUDNN
  try {
    const std::size_t version = Cudnn::get().cudnnGetVersion();
    return "cuDNN " + std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100);
  } catch (const std::exception&) {
    return "no cuDNN";
  }
#else
  return "built without cuDNN headers";
#endif
}

}  // namespace winnow
