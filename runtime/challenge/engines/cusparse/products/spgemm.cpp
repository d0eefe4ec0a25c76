#include "runtime/challenge/engines/cusparse/products/spgemm.h"

namespace winnow::challenge {
namespace {

SpgemmDescriptor make_spgemm_descriptor() {
  cusparseSpGEMMDescr_t made = nullptr;
  CUSPARSE_CHECK(Cusparse::get().cusparseSpGEMM_createDescr(&made));
  return SpgemmDescriptor(made);
}

// False if the work is too large.
bool is_done(cusparseStatus_t status, const char* step) {
  if (status == CUSPARSE_STATUS_INSUFFICIENT_RESOURCES || status == CUSPARSE_STATUS_ALLOC_FAILED) {
    cudaGetLastError();  // clears what an allocation of theirs may have left
    return false;
  }
  check_cusparse(status, step, __FILE__, __LINE__);
  return true;
}

// The arguments that all steps have in common.
struct Product {
  cusparseHandle_t handle;
  ConstSparseMatrix a, b;
  SparseMatrix c;
  SpgemmDescriptor descriptor = make_spgemm_descriptor();

  template <typename Step, typename... More>
  cusparseStatus_t call(Step step, More... more) const {
    static constexpr float kOne = 1, kZero = 0;
    constexpr auto kNotTransposed = CUSPARSE_OPERATION_NON_TRANSPOSE;
    return step(handle, kNotTransposed, kNotTransposed, &kOne, a.get(), b.get(), &kZero, c.get(),
                CUDA_R_32F, CUSPARSE_SPGEMM_DEFAULT, descriptor.get(), more...);
  }

  // A step that asks for the size of its workspace when that is null.
  template <typename Step>
  bool run(Step step, const char* name, Scratch<std::byte>& workspace) const {
    std::size_t bytes = 0;
    if (!is_done(call(step, &bytes, static_cast<void*>(nullptr)), name)) return false;
    if (!workspace.reserve(bytes)) return false;
    return is_done(call(step, &bytes, static_cast<void*>(workspace.get())), name);
  }
};

}  // namespace

std::optional<CsrView> Spgemm::multiply(const CsrView& a, const CsrView& b) {
  const Cusparse& cusparse = Cusparse::get();
  if (!begin_.reserve(static_cast<std::size_t>(a.rows) + 1)) return std::nullopt;
  const Product product{.handle = handle_.get(),
                        .a = describe(a),
                        .b = describe(b),
                        .c = describe_unknown(a.rows, b.columns, begin_.get())};
  if (!product.run(cusparse.cusparseSpGEMM_workEstimation, "cusparseSpGEMM_workEstimation",
                   estimation_) ||
      !product.run(cusparse.cusparseSpGEMM_compute, "cusparseSpGEMM_compute", computation_)) {
    return std::nullopt;
  }

  std::int64_t rows = 0, columns = 0, nonzeros = 0;
  CUSPARSE_CHECK(cusparse.cusparseSpMatGetSize(product.c.get(), &rows, &columns, &nonzeros));
  if (nonzeros > kMostNonzeros) return std::nullopt;
  const auto count = static_cast<std::size_t>(nonzeros);
  if (!column_.reserve(count) || !value_.reserve(count)) return std::nullopt;
  CUSPARSE_CHECK(
      cusparse.cusparseCsrSetPointers(product.c.get(), begin_.get(), column_.get(), value_.get()));
  CUSPARSE_CHECK(product.call(cusparse.cusparseSpGEMM_copy));
  return CsrView{.rows = a.rows,
                 .columns = b.columns,
                 .nonzeros = static_cast<std::int32_t>(nonzeros),
                 .begin = begin_.get(),
                 .column = column_.get(),
                 .value = value_.get()};
}

void Spgemm::release() {
  estimation_.release();
  computation_.release();
  begin_.release();
  column_.release();
  value_.release();
}

}  // namespace winnow::challenge
