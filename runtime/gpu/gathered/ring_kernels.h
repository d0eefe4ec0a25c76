// The compiled forms of the ring kernel, by how its input is copied.
#pragma once

#include <vector>

#include "runtime/gpu/gathered/ring_arguments.h"
#include "runtime/gpu/gathered/ring_tile.h"

namespace winnow {

struct RingBulkSource;    // ring_kernel.cuh
struct RingThreadSource;  //

template <class Source>
struct RingKernel {
  RingForm form;
  int threads = 0;
  void (*kernel)(Source, RingArguments) = nullptr;
};

// Those of a fixed pitch before the general one of the same height, width and warps, as kRingForms.
template <class Source>
const std::vector<RingKernel<Source>>& ring_kernels();

// Compiled for compute capability 9.0 and later.
template <>
const std::vector<RingKernel<RingBulkSource>>& ring_kernels<RingBulkSource>();

// For 8.0 and later; the general ones alone.
template <>
const std::vector<RingKernel<RingThreadSource>>& ring_kernels<RingThreadSource>();

}  // namespace winnow
