// cuSPARSE, opened when the first engine wants it.
#pragma once

#include <cusparse.h>

#include <string>
#include <utility>

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
#define WINNOW_DECLARE(name) decltype(&::name) name = nullptr;
  WINNOW_CUSPARSE_FUNCTIONS(WINNOW_DECLARE)
#undef WINNOW_DECLARE

  // Throws Error{device} if it is not found; the message lists where it looked.
  static const Cusparse& get();
};

// Throws Error{device} unless the status is success.
void check_cusparse(cusparseStatus_t status, const char* call, const char* file, int line);

// A move-only owner of an object of cuSPARSE: its destroy function is a member of Cusparse.
template <typename Handle, auto kDestroy>
class CusparseObject {
 public:
  CusparseObject() = default;
  explicit CusparseObject(Handle handle) : handle_(handle) {}
  ~CusparseObject() {
    if (handle_ != nullptr) (Cusparse::get().*kDestroy)(handle_);
  }
  CusparseObject(CusparseObject&& other) noexcept
      : handle_(std::exchange(other.handle_, nullptr)) {}
  CusparseObject& operator=(CusparseObject&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }

  Handle get() const { return handle_; }

 private:
  Handle handle_ = nullptr;
};

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
