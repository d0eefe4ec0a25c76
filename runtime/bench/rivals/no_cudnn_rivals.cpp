// The twin of cudnn_int8_rivals.cpp for builds without cuDNN's headers.
#include "runtime/base/error.h"
#include "runtime/bench/rivals/rival.h"

namespace winnow {

std::vector<LayerKernel> cudnn_int8_rivals(const RivalProblem&, GpuContext&) {
  fail(ErrorCode::device, "cudnn int8: built without cuDNN headers");
}

}  // namespace winnow
