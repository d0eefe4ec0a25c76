// Which value lies in which layout, and where conversions go. Pure: no kernel, no timing.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "runtime/cpu/layout.h"
#include "runtime/plan/program.h"

namespace winnow {

// A value in one layout. Values of several layouts have several.
struct PlannedBuffer {
  std::size_t value = 0;
  Layout layout;
};

// Copies buffer `from` to buffer `to` before step `step` (steps.size(): after the last).
struct PlannedConversion {
  std::size_t step = 0;
  std::size_t from = 0;
  std::size_t to = 0;
};

struct LayoutPlan {
  std::vector<PlannedBuffer> buffers;
  std::vector<PlannedConversion> conversions;    // by step
  std::vector<std::vector<std::size_t>> inputs;  // [steps] buffers
  std::vector<std::size_t> outputs;              // [steps] buffers
  std::size_t network_input = 0;                 // a planar buffer
  std::size_t network_output = 0;                // a planar buffer
};

// What a step reads and writes, given the layout in which its first input lies.
struct StepLayouts {
  Layout input;
  Layout output;
};
using LayoutRule = std::function<StepLayouts(std::size_t step, const Layout& offered)>;

// A value that is read in several layouts is converted once for each.
LayoutPlan plan_layouts(const Program& program, const LayoutRule& rule);

}  // namespace winnow
