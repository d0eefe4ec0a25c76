#include "runtime/gpu/vendor/library_places.h"

#include <exception>

#include "runtime/gpu/vendor/cublaslt_library.h"

#ifdef WINNOW_HAS_CUDNN
#include "runtime/gpu/vendor/cudnn_library.h"
#endif

namespace winnow {

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
