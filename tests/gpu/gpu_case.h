// Cases that need a GPU.
#pragma once

#include <doctest/doctest.h>

#include <cstdio>

#include "runtime/gpu/session/gpu_session.h"

namespace winnow {

// Whether the case must end here because there is no GPU. ctest counts it as skipped; where a GPU
// is required (-DWINNOW_GPU_REQUIRED=ON) it fails instead.
inline bool lacks_gpu() {
  const std::string reason = gpu_unavailable_reason();
  if (reason.empty()) return false;
#ifdef WINNOW_GPU_REQUIRED
  FAIL("a GPU is required: ", reason);
#endif
  std::printf("skipped: no GPU (%s)\n", reason.c_str());
  return true;
}

}  // namespace winnow
