// Which layer runs each step of a network on the CPU, and in which layouts values exist.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "runtime/cpu/layer.h"
#include "runtime/plan/choice.h"

namespace winnow {

using LayerPointer = std::shared_ptr<CpuLayer>;

// One way to run a step. Steps other than conv and linear have no `layer` yet: they run in
// `layout`, and the network makes their layers when all is chosen.
struct CpuStepPlan {
  LayerPointer layer;
  Layout layout;
  std::vector<std::size_t> reads;  // of each input an index into its value's layouts
  std::size_t writes = 0;
};

struct CpuPlan {
  std::vector<std::vector<Layout>> layouts;  // by value: a value's formats, the first is nchw
  std::vector<CpuStepPlan> steps;
  std::vector<Conversion> conversions;  // in execution order
};

}  // namespace winnow
