#include "runtime/plan/fusions.h"

#include <variant>

namespace winnow {
namespace {

bool may_compute(const Step& reader, const Step& computed) {
  if (std::holds_alternative<Flatten>(computed.op)) {
    return std::holds_alternative<Linear>(reader.op);
  }
  if (!std::holds_alternative<Conv>(computed.op)) return false;
  if (std::holds_alternative<Pool>(reader.op)) return true;
  const bool is_sum = std::holds_alternative<Add>(reader.op) && reader.inputs.size() == 2;
  return is_sum && !computed.has_relu;
}

}  // namespace

std::vector<StepFusions> step_fusions(const Program& program) {
  const std::vector<std::size_t> readers = reader_counts(program);
  std::vector<std::size_t> writer_of(program.values.size(), kNoStep);  // of what is read once
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const std::size_t value = program.steps[i].output;
    if (readers[value] == 1) writer_of[value] = i;
  }
  std::vector<StepFusions> fusions(program.steps.size());
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    for (const std::size_t input : program.steps[i].inputs) {
      const std::size_t writer = writer_of[input];
      const bool fits = writer != kNoStep && may_compute(program.steps[i], program.steps[writer]);
      fusions[i].computed.push_back(fits ? writer : kNoStep);
      if (fits) fusions[writer].into = i;
    }
  }
  return fusions;
}

}  // namespace winnow
