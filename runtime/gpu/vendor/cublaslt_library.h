// cuBLASLt, opened when the first layer wants it.
#pragma once

#include <cublasLt.h>

#include "runtime/device/vendor_library.h"

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
  WINNOW_CUBLASLT_FUNCTIONS(WINNOW_DECLARE_FUNCTION)

  explicit CublasLt(const DynamicLibrary& library) {
    WINNOW_CUBLASLT_FUNCTIONS(WINNOW_LOAD_FUNCTION)
  }

  // Throws Error{device} if it is not found; the message lists where it looked.
  static const CublasLt& get();
};

// Throws Error{device} unless the status is success.
void check_cublaslt(cublasStatus_t status, const char* call, const char* file, int line);

template <typename Handle, auto kDestroy>
using CublasLtObject = VendorObject<CublasLt, Handle, kDestroy>;

using CublasLtHandle = CublasLtObject<cublasLtHandle_t, &CublasLt::cublasLtDestroy>;
CublasLtHandle make_cublaslt_handle();

}  // namespace winnow
