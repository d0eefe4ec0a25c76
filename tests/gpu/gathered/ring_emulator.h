// What the gathered kernel with a ring of stages does, on the host, step by step: its copies,
// waits, reads and writes by the same index functions. Values are floats, eight images a row.
#pragma once

#include <string>
#include <vector>

#include "runtime/gpu/gathered/ring_launch.h"

namespace winnow {

// A launch with pointers to host memory: `in`, `addend` and `out` are nchw32c8n as floats.
struct EmulatedLaunch {
  RingProblem problem;
  const RingWeights* weights = nullptr;
  std::vector<float> bias;  // [groups * 16]
  Extents in_size;
  const std::vector<float>* in = nullptr;
  const std::vector<float>* addend = nullptr;  // may be null
  int sms = 1;
};

// Returns the output, NaN where nothing was written. What went wrong, if anything did, in
// `failure`: a read or write out of bounds, a stage overwritten or never copied.
std::vector<float> emulate(const EmulatedLaunch& launch, std::string& failure);

}  // namespace winnow
