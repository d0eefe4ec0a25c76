// How kernels of the gathered convolution copy their input to shared memory.
#pragma once

#include "runtime/device/device_code.h"

namespace winnow {

enum class GatheredLoads {
  in_bulk,     // by bulk copies, of compute capability 9.0
  by_threads,  // 16 bytes of a thread at a time, of 8.0
};

// Those that the current GPU does best. Throws Error{device} without a GPU.
inline GatheredLoads best_gathered_loads() {
  return runs_hopper_code() ? GatheredLoads::in_bulk : GatheredLoads::by_threads;
}

}  // namespace winnow
