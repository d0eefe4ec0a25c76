// What a choice of kernels makes of a program: operations in order, and the buffers between them.
// Pure host code, the same for every backend.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "runtime/plan/choice.h"
#include "runtime/plan/program.h"

namespace winnow {

// A value in one format. It lives from the first operation that writes it to the last that uses it.
struct PlannedBuffer {
  std::size_t value = 0;
  std::size_t format = 0;
  std::size_t alias_of = 0;  // the buffer whose memory it is; its own index if it has its own
  std::size_t first_operation = 0;
  std::size_t last_operation = 0;
};

// A step or a conversion.
struct PlannedOperation {
  bool is_conversion = false;
  std::vector<std::size_t> in;  // buffers
  std::size_t out = 0;          // buffer
  std::size_t step = 0;         // the step itself; for a conversion the one whose time it counts to
};

struct ExecutionPlan {
  std::vector<PlannedBuffer> buffers;
  std::vector<PlannedOperation> operations;
  std::vector<std::size_t> step_outputs;  // by step: buffer
  std::size_t input = 0;                  // buffer
  std::size_t output = 0;                 // buffer; lives beyond the last operation
};

// The chosen way to run a step.
struct ChosenStep {
  std::vector<std::size_t> reads;  // format of each input
  std::size_t writes = 0;          // format of the output
  bool has_kernel = true;          // if not, the output is the first input's memory
};

// Whether a value has the same bytes in two of its formats.
using SameMemory = std::function<bool(std::size_t value, std::size_t from, std::size_t to)>;

// Requires one chosen step per step of `program` and conversions in execution order, as
// choose_kernels gives them. Conversions between formats of the same memory become aliases, not
// operations. The network's input and output exist in format 0.
ExecutionPlan make_execution_plan(const Program& program, std::span<const ChosenStep> steps,
                                  std::span<const Conversion> conversions,
                                  const SameMemory& is_same_memory);

// The buffer whose memory `buffer` is.
std::size_t memory_of(const ExecutionPlan& plan, std::size_t buffer);

}  // namespace winnow
