// Pooling in any layout.
#pragma once

#include "runtime/base/thread_pool.h"
#include "runtime/cpu/layout.h"
#include "runtime/model/graph.h"

namespace winnow {

struct PlanePooling {
  Pool op;
  Planes in;
  Planes out;
};

// What is not a number wins a maximum, padding never does; an average divides by the positions that
// pool_axis.h says it counts.
void pool_planes(const PlanePooling& pooling, const float* in, float* out, ThreadPool& pool);

}  // namespace winnow
