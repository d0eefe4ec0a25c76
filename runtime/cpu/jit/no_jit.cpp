// A build without Xbyak, or for another processor.
#include "runtime/base/error.h"
#include "runtime/cpu/jit/jit_conv.h"

namespace winnow {

bool jit_conv_fits(const ConvWork&) {
  return false;
}

bool jit_conv_pools(const ConvWork&, const Pool&) {
  return false;
}

bool jit_conv_interleaves(const ConvWork&) {
  return false;
}

std::unique_ptr<CpuLayer> make_jit_conv(const ConvWork&, const JitOptions&) {
  fail(ErrorCode::internal, "this build generates no code");
}

}  // namespace winnow
