// cuSPARSE, opened when the first engine wants it.
#pragma once

#include <cusparse.h>

#include <string>

#include "runtime/device/vendor_library.h"

#define CUSPARSE_CHECK(call) ::winnow::challenge::check_cusparse((call), #call, __FILE__, __LINE__)

#define WINNOW_CUSPARSE_FUNCTIONS(apply)                                                          \
  apply(cusparseCreate) apply(cusparseDestroy) apply(cusparseSetStream) apply(cusparseGetStream)  \
      apply(cusparseGetVersion) apply(cusparseGetErrorString) apply(cusparseCreateCsr)            \
          apply(cusparseCreateConstCsr) apply(cusparseDestroySpMat) apply(cusparseCsrSetPointers) \
              apply(cusparseSpMatGetSize) apply(cusparseCreateDnMat)                              \
                  apply(cusparseCreateConstDnMat) apply(cusparseDestroyDnMat)                     \
                      apply(cusparseSpGEMM_createDescr) apply(cusparseSpGEMM_destroyDescr)        \
                          apply(cusparseSpGEMM_workEstimation) apply(cusparseSpGEMM_compute)      \
                              apply(cusparseSpGEMM_copy) apply(cusparseSpMM_bufferSize)           \
                                  apply(cusparseSpMM_preprocess) apply(cusparseSpMM)

namespace winnow::challenge {

struct Cusparse {
  WINNOW_CUSPARSE_FUNCTIONS(WINNOW_DECLARE_FUNCTION)

  explicit Cusparse(const DynamicLibrary& library) {
    WINNOW_CUSPARSE_FUNCTIONS(WINNOW_LOAD_FUNCTION)
  }

  // Throws Error{device} if it is not found; the message lists where it looked.
  static const Cusparse& get();
};

// Throws Error{device} unless the status is success.
void check_cusparse(cusparseStatus_t status, const char* call, const char* file, int line);

template <typename Handle, auto kDestroy>
using CusparseObject = VendorObject<Cusparse, Handle, kDestroy>;

using CusparseHandle = CusparseObject<cusparseHandle_t, &Cusparse::cusparseDestroy>;
using ConstSparseMatrix =
    CusparseObject<cusparseConstSpMatDescr_t, &Cusparse::cusparseDestroySpMat>;
using SparseMatrix = CusparseObject<cusparseSpMatDescr_t, &Cusparse::cusparseDestroySpMat>;
using ConstDenseMatrix = CusparseObject<cusparseConstDnMatDescr_t, &Cusparse::cusparseDestroyDnMat>;
using DenseMatrix = CusparseObject<cusparseDnMatDescr_t, &Cusparse::cusparseDestroyDnMat>;
using SpgemmDescriptor =
    CusparseObject<cusparseSpGEMMDescr_t, &Cusparse::cusparseSpGEMM_destroyDescr>;

// A handle whose work goes to `stream`.
CusparseHandle make_cusparse_handle(cudaStream_t stream);

// "cuSPARSE 12.6"
std::string cusparse_name(cusparseHandle_t handle);

}  // namespace winnow::challenge
