#include "runtime/plan/fusions.h"

#include <variant>

namespace winnow {
namespace {

bool may_compute(const Step& reader, const Step& conv) {
  if (std::holds_alternative<Pool>(reader.op)) return true;
  const bool is_sum = std::holds_alternative<Add>(reader.op) && reader.inputs.size() == 2;
  return is_sum && !conv.has_relu;
}

}  // namespace

std::vector<StepFusions> step_fusions(const Program& program) {
  const std::vector<std::size_t> readers = reader_counts(program);
  std::vector<std::size_t> conv_of(program.values.size(), kNoStep);
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const Step& step = program.steps[i];
    if (std::holds_alternative<Conv>(step.op) && readers[step.output] == 1)
      conv_of[step.output] = i;
  }
  std::vector<StepFusions> fusions(program.steps.size());
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    for (const std::size_t input : program.steps[i].inputs) {
      const std::size_t conv = conv_of[input];
      const bool fits = conv != kNoStep && may_compute(program.steps[i], program.steps[conv]);
      fusions[i].computed.push_back(fits ? conv : kNoStep);
      if (fits) fusions[conv].into = i;
    }
  }
  return fusions;
}

}  // namespace winnow
