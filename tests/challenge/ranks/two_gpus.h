// Cases that need two GPUs.
#pragma once

#include <cstdio>

#include "runtime/challenge/engines/gpu/gpu_engines.h"
#include "tests/gpu/gpu_case.h"

namespace winnow::challenge {

// Whether the case must end here; ctest counts it as skipped.
inline bool lacks_two_gpus() {
  if (lacks_gpu()) return true;
  if (visible_gpus() >= 2) return false;
  std::printf("skipped: one GPU\n");
  return true;
}

}  // namespace winnow::challenge
