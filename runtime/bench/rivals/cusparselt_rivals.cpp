// Sparse tensor cores by cuSPARSELt on gathered columns: two of every four weights, half floats.
//
// The library is opened at run time, and its functions are declared here as its documentation has
// them, so that its header is not needed to build. The order of its enumerators has changed between
// versions: others than those below are refused.
#include <cusparse.h>

#include <utility>

#include "runtime/base/error.h"
#include "runtime/bench/rivals/rival.h"
#include "runtime/device/dynamic_library.h"
#include "runtime/gpu/layer/typed_weights.h"

namespace winnow {
namespace {

constexpr int kFirstVersion = 700, kLastVersion = 899;  // major * 1000 + minor * 100 + patch
constexpr int kHalfSparsity = 0, kDefaultAlgorithm = 0, kComputeF32 = 2;
constexpr std::uint32_t kAlignment = 16;

// The library's opaque objects, larger than in any version.
struct alignas(64) Opaque {
  std::byte data[16384] = {};
};

struct CusparseLt {
  using Object = const Opaque*;
  int (*init)(Opaque*);
  int (*version)(Object, int*);
  int (*structured)(Object, Opaque*, std::int64_t, std::int64_t, std::int64_t, std::uint32_t,
                    cudaDataType, cusparseOrder_t, int);
  int (*dense)(Object, Opaque*, std::int64_t, std::int64_t, std::int64_t, std::uint32_t,
               cudaDataType, cusparseOrder_t);
  int (*matmul_descriptor)(Object, Opaque*, cusparseOperation_t, cusparseOperation_t, Object,
                           Object, Object, Object, int);
  int (*selection)(Object, Opaque*, Object, int);
  int (*plan)(Object, Opaque*, Object, Object);
  int (*workspace)(Object, Object, std::size_t*);
  int (*compressed_size)(Object, Object, std::size_t*, std::size_t*);
  int (*compress)(Object, Object, const void*, void*, void*, cudaStream_t);
  int (*search)(Object, Opaque*, const void*, const void*, const void*, const void*, const void*,
                void*, void*, cudaStream_t*, std::int32_t);
  int (*matmul)(Object, Object, const void*, const void*, const void*, const void*, const void*,
                void*, void*, cudaStream_t*, std::int32_t);

  explicit CusparseLt(const DynamicLibrary& library) {
    const auto load = [&](auto& function, const char* name) {
      function = library.function<std::remove_reference_t<decltype(function)>>(name);
    };
    load(init, "cusparseLtInit");
    load(version, "cusparseLtGetVersion");
    load(structured, "cusparseLtStructuredDescriptorInit");
    load(dense, "cusparseLtDenseDescriptorInit");
    load(matmul_descriptor, "cusparseLtMatmulDescriptorInit");
    load(selection, "cusparseLtMatmulAlgSelectionInit");
    load(plan, "cusparseLtMatmulPlanInit");
    load(workspace, "cusparseLtMatmulGetWorkspace");
    load(compressed_size, "cusparseLtSpMMACompressedSize");
    load(compress, "cusparseLtSpMMACompress");
    load(search, "cusparseLtMatmulSearch");
    load(matmul, "cusparseLtMatmul");
  }

  static const CusparseLt& get() {
    static const CusparseLt library(DynamicLibrary::open(
        {"libcusparseLt.so.0"}, library_folders("WINNOW_CUSPARSELT_DIR", "cusparselt")));
    return library;
  }
};

void check(int status, const char* call) {
  if (status != 0) fail(ErrorCode::device, "cuSPARSELt: ", call, " refused with status ", status);
}
#define CUSPARSELT_CHECK(function, ...) check(CusparseLt::get().function(__VA_ARGS__), #function)

// y^T [K, pixels] = W [K, columns] x^T, where y and x are row-major with a pixel a row.
class SparseProduct {
 public:
  SparseProduct(const RivalProblem& problem, cudaStream_t stream)
      : pixels_(problem.shape.pixels()), outs_(problem.shape.conv.out_channels) {
    const std::int64_t columns = problem.shape.columns();
    CUSPARSELT_CHECK(init, &handle_);
    int found = 0;
    CUSPARSELT_CHECK(version, &handle_, &found);
    if (found < kFirstVersion || found > kLastVersion) {
      fail(ErrorCode::device, "cuSPARSELt: version ", found, ", expected ", kFirstVersion, " to ",
           kLastVersion);
    }
    CUSPARSELT_CHECK(structured, &handle_, &w_, outs_, columns, columns, kAlignment, CUDA_R_16F,
                     CUSPARSE_ORDER_ROW, kHalfSparsity);
    CUSPARSELT_CHECK(dense, &handle_, &x_, pixels_, columns, columns, kAlignment, CUDA_R_16F,
                     CUSPARSE_ORDER_ROW);
    CUSPARSELT_CHECK(dense, &handle_, &y_, outs_, pixels_, outs_, kAlignment, CUDA_R_16F,
                     CUSPARSE_ORDER_COL);
    CUSPARSELT_CHECK(matmul_descriptor, &handle_, &matmul_, CUSPARSE_OPERATION_NON_TRANSPOSE,
                     CUSPARSE_OPERATION_TRANSPOSE, &w_, &x_, &y_, &y_, kComputeF32);
    CUSPARSELT_CHECK(selection, &handle_, &selection_, &matmul_, kDefaultAlgorithm);
    CUSPARSELT_CHECK(plan, &handle_, &plan_, &matmul_, &selection_);
    compress(problem, stream);
  }

  // Searches for the fastest kernel, which leaves the product in y too.
  void search(const void* x, void* y, cudaStream_t stream) {
    reserve();
    CUSPARSELT_CHECK(search, &handle_, &plan_, &kOne, weight_.get(), x, &kZero, y, y,
                     workspace_.get(), &stream, 1);
    reserve();  // the kernel found may want more
  }

  void multiply(const void* x, void* y, cudaStream_t stream) const {
    CUSPARSELT_CHECK(matmul, &handle_, &plan_, &kOne, weight_.get(), x, &kZero, y, y,
                     workspace_.get(), &stream, 1);
  }

 private:
  static constexpr float kOne = 1, kZero = 0;

  void compress(const RivalProblem& problem, cudaStream_t stream) {
    const Conv& conv = problem.shape.conv;
    const DeviceBuffer<std::byte> rows = upload_as(
        Precision::f16,
        channels_last(problem.weight, conv.out_channels, conv.kernel[0] * conv.kernel[1]));
    std::size_t bytes = 0, scratch_bytes = 0;
    CUSPARSELT_CHECK(compressed_size, &handle_, &plan_, &bytes, &scratch_bytes);
    weight_ = DeviceBuffer<std::byte>(bytes);
    const DeviceBuffer<std::byte> scratch(std::max<std::size_t>(scratch_bytes, 1));
    CUSPARSELT_CHECK(compress, &handle_, &plan_, rows.get(), weight_.get(), scratch.get(), stream);
    CUDA_CHECK(cudaStreamSynchronize(stream));
  }

  void reserve() {
    std::size_t bytes = 0;
    CUSPARSELT_CHECK(workspace, &handle_, &plan_, &bytes);
    if (bytes > workspace_.bytes()) workspace_ = DeviceBuffer<std::byte>(bytes);
  }

  std::int64_t pixels_, outs_;
  Opaque handle_, w_, x_, y_, matmul_, selection_, plan_;
  DeviceBuffer<std::byte> weight_, workspace_;
};

class SparseProductLayer : public PreparedLayer {
 public:
  SparseProductLayer(std::shared_ptr<Columns> columns, std::unique_ptr<SparseProduct> product)
      : columns_(std::move(columns)), product_(std::move(product)) {}

  void launch(std::span<const ActivationView> in, const ActivationView& out, const Workspace&,
              cudaStream_t stream) const override {
    const void* x = columns_->halves(in[0], stream);
    if (!is_chosen_) product_->search(x, out.data, stream);
    is_chosen_ = true;
    product_->multiply(x, out.data, stream);
  }

 private:
  std::shared_ptr<Columns> columns_;
  std::unique_ptr<SparseProduct> product_;
  mutable bool is_chosen_ = false;
};

}  // namespace

std::vector<LayerKernel> cusparselt_rivals(const RivalProblem& problem,
                                           const std::shared_ptr<Columns>& by_pixel,
                                           GpuContext& gpu) {
  auto product = std::make_unique<SparseProduct>(problem, gpu.stream());
  return {{.family = "cusparselt 2:4",
           .kernel = "cusparselt 2:4 f16, searched",
           .in = rival_input(ColumnOrder::by_pixel),
           .out = rival_output(),
           .layer = std::make_shared<const SparseProductLayer>(by_pixel, std::move(product))}};
}

}  // namespace winnow
