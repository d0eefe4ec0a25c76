// cuBLASLt, opened when the first layer wants it. Only the dense family includes this.
#pragma once

#include <cublasLt.h>

#include <string>
#include <utility>

#define CUBLASLT_CHECK(call) ::winnow::check_cublaslt((call), #call, __FILE__, __LINE__)

#define WINNOW_CUBLASLT_FUNCTIONS(apply)                                               \
  apply(cublasLtCreate) apply(cublasLtDestroy) apply(cublasLtMatmul)                   \
      apply(cublasLtMatmulDescCreate) apply(cublasLtMatmulDescDestroy)                 \
          apply(cublasLtMatmulDescSetAttribute) apply(cublasLtMatrixLayoutCreate)      \
              apply(cublasLtMatrixLayoutDestroy) apply(cublasLtMatmulPreferenceCreate) \
                  apply(cublasLtMatmulPreferenceDestroy)                               \
                      apply(cublasLtMatmulPreferenceSetAttribute)                      \
                          apply(cublasLtMatmulAlgoGetHeuristic)

namespace winnow {

struct CublasLt {
#define WINNOW_DECLARE(name) decltype(&::name) name = nullptr;
  WINNOW_CUBLASLT_FUNCTIONS(WINNOW_DECLARE)
#undef WINNOW_DECLARE

  // Throws Error{device} if it is not found; the message lists where it looked.
  static const CublasLt& get();
};

// Throws Error{device} unless the status is success.
void check_cublaslt(cublasStatus_t status, const char* call, const char* file, int line);

// A move-only owner of a cuBLASLt object: its destroy function is a member of CublasLt.
template <typename Handle, auto kDestroy>
class CublasLtObject {
 public:
  CublasLtObject() = default;
  explicit CublasLtObject(Handle handle) : handle_(handle) {}
  ~CublasLtObject() {
    if (handle_ != nullptr) (CublasLt::get().*kDestroy)(handle_);
  }
  CublasLtObject(CublasLtObject&& other) noexcept
      : handle_(std::exchange(other.handle_, nullptr)) {}
  CublasLtObject& operator=(CublasLtObject&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }

  Handle get() const { return handle_; }

 private:
  Handle handle_ = nullptr;
};

using CublasLtHandle = CublasLtObject<cublasLtHandle_t, &CublasLt::cublasLtDestroy>;
CublasLtHandle make_cublaslt_handle();

}  // namespace winnow
