#include "runtime/gpu/gathered/tensor_map.h"

#include <cuda_runtime_api.h>

#include "runtime/base/error.h"
#include "runtime/device/cuda_check.h"

namespace winnow {
namespace {

using Encode = decltype(&cuTensorMapEncodeTiled);

Encode load_encode() {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
#if CUDART_VERSION >= 12050
  CUDA_CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000,
                                              cudaEnableDefault, &found));
#else
  CUDA_CHECK(
      cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &function, cudaEnableDefault, &found));
#endif
  if (found != cudaDriverEntryPointSuccess || function == nullptr) {
    fail(ErrorCode::device, "the driver has no bulk tensor copies (cuTensorMapEncodeTiled)");
  }
  return reinterpret_cast<Encode>(function);
}

}  // namespace

CUtensorMap tensor_map(const ActivationView& view, const RingBox& box) {
  static const Encode encode = load_encode();
  const ActivationStrides strides = strides_of(view.format, view.size);
  const auto bytes = [](std::int64_t elements) { return static_cast<cuuint64_t>(2 * elements); };
  const cuuint64_t sizes[4] = {static_cast<cuuint64_t>(strides.column),
                               static_cast<cuuint64_t>(view.size.w),
                               static_cast<cuuint64_t>(view.size.h),
                               static_cast<cuuint64_t>(strides.total / strides.channel_block)};
  const cuuint64_t steps[3] = {bytes(strides.column), bytes(strides.row),
                               bytes(strides.channel_block)};
  const cuuint32_t box_sizes[4] = {static_cast<cuuint32_t>(strides.column),
                                   static_cast<cuuint32_t>(box.width),
                                   static_cast<cuuint32_t>(box.height), 1};
  const cuuint32_t every[4] = {1, 1, 1, 1};
  CUtensorMap map;
  const CUresult result =
      encode(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 4, view.data, sizes, steps, box_sizes, every,
             CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
             CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) {
    fail(ErrorCode::device, "cuTensorMapEncodeTiled: error ", static_cast<int>(result));
  }
  return map;
}

}  // namespace winnow
