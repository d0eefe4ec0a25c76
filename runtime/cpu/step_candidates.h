// The ways to run every step of a program on the CPU, and the layouts that follow from them.
#pragma once

#include <cstddef>
#include <vector>

#include "runtime/cpu/cpu_plan.h"
#include "runtime/cpu/fused_steps.h"
#include "runtime/plan/program.h"

namespace winnow {

// A program's candidates by step, over the layouts that its values may have.
struct ProgramCandidates {
  std::vector<std::vector<CpuStepPlan>> steps;  // at least one each
  std::vector<std::vector<Layout>> layouts;     // by value; the first is nchw
};

// layers  [steps] those that can run each conv and linear step; empty for the other steps, which
//         run in every layout in which one of their inputs may be written
// fused   additions and poolings that have another way to run
ProgramCandidates program_candidates(const Program& program,
                                     const std::vector<std::vector<LayerPointer>>& layers,
                                     const std::vector<FusedStep>& fused);

}  // namespace winnow
