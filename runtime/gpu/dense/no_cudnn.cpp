// The twin of cudnn_conv.cpp for builds without cuDNN's headers.
#include "runtime/base/error.h"
#include "runtime/gpu/dense/cudnn_conv.h"

namespace winnow {

CudnnParameters upload_for_cudnn(const CudnnProblem&, std::span<const float>,
                                 std::span<const float>) {
  return {};
}

std::vector<NamedLayer> cudnn_layers(const CudnnProblem&, std::shared_ptr<const CudnnParameters>,
                                     GpuContext& gpu) {
  fail(ErrorCode::device, cudnn_missing_reason(gpu));
}

std::vector<NamedLayer> cudnn_layers(const CudnnProblem&, std::span<const float>,
                                     std::span<const float>, GpuContext& gpu) {
  fail(ErrorCode::device, cudnn_missing_reason(gpu));
}

std::string cudnn_missing_reason(GpuContext&) {
  return "built without cuDNN headers";
}

}  // namespace winnow
