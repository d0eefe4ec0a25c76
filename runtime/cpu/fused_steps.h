// Convolutions whose output an addition or a pooling alone reads: both in one run of generated
// code, which saves what is between them the way to memory and back.
#pragma once

#include <cstddef>
#include <vector>

#include "runtime/cpu/cpu_plan.h"
#include "runtime/plan/program.h"

namespace winnow {

// The convolution is deferred: it writes nothing, and its reader reads the convolution's input.
struct FusedStep {
  std::size_t conv = 0;    // step
  std::size_t reader = 0;  // step: an addition or a pooling
  std::size_t input = 0;   // of the reader: what the convolution writes
  LayerPointer deferred;   // stands for the convolution
  LayerPointer layer;      // computes both; inputs are the convolution's, then an other operand
};

// Additions of two values of which a convolution without activation writes one for nobody else, and
// poolings of what a convolution writes for nobody else; without layers.
std::vector<FusedStep> fusible_steps(const Program& program);

// Stands for the step that `reader` computes.
LayerPointer make_deferred_layer(const std::string& family, const Step& reader);

// What a value is that nobody writes: it has no memory.
inline constexpr Layout kDeferredLayout{Order::nchw, 0};

}  // namespace winnow
