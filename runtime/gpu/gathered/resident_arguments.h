// What the gathered convolution with a resident input is launched with.
#pragma once

#include <cuda_fp16.h>

#include <cstddef>
#include <cstdint>

#include "runtime/gpu/gathered/resident_tile.h"
#include "runtime/gpu/gathered/ring_arguments.h"

namespace winnow {

// Device memory as ResidentConvWeights; activations are nchw32c8n.
struct ResidentArguments {
  ResidentGeometry g;
  const std::byte* records = nullptr;
  const int4* heads = nullptr;
  const std::int32_t* place = nullptr;
  const float* bias = nullptr;  // [groups * 16]
  const __half* in = nullptr;
  const __half* addend = nullptr;  // added before ReLU; as the output before pooling, or null
  __half* out = nullptr;

  int capacity = 0;  // records of a stream in memory
  float least = 0;   // of an output: 0 with relu, else -infinity
  RingPool pool = RingPool::none;
  bool uses_bulk = true;  // bulk copies instead of one thread's 16 bytes at a time
};

}  // namespace winnow
