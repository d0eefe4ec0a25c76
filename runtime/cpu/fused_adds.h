// Convolutions whose output an addition alone reads: both in one run of generated code, which saves
// the sum's first operand the way to memory and back.
#pragma once

#include <cstddef>
#include <vector>

#include "runtime/cpu/cpu_plan.h"
#include "runtime/plan/program.h"

namespace winnow {

// The convolution is deferred: it writes nothing, and the addition reads the convolution's input.
struct FusedAdd {
  std::size_t conv = 0;   // step
  std::size_t add = 0;    // step
  std::size_t input = 0;  // of the addition: what the convolution writes
  LayerPointer deferred;  // stands for the convolution
  LayerPointer layer;     // computes both; inputs are the convolution's, then the other operand
};

// Additions of two values of which a convolution without activation writes one for nobody else;
// without layers.
std::vector<FusedAdd> fusible_adds(const Program& program);

// Stands for the step that `add` computes.
LayerPointer make_deferred_layer(const std::string& family, const Step& add);

// What a value is that nobody writes: it has no memory.
inline constexpr Layout kDeferredLayout{Order::nchw, 0};

}  // namespace winnow
