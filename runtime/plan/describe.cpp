#include "runtime/plan/describe.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "runtime/plan/step_weights.h"

namespace winnow {
namespace {

std::int64_t macs_of(const Step& step, const Shape& output) {
  const std::int64_t outputs = element_count(output);
  if (const auto* conv = std::get_if<Conv>(&step.op)) {
    return outputs * (conv->in_channels / conv->groups) * conv->kernel[0] * conv->kernel[1];
  }
  if (const auto* linear = std::get_if<Linear>(&step.op)) return outputs * linear->in_features;
  return 0;
}

}  // namespace

double weight_sparsity(const Weight& weight) {
  if (const auto* csr = std::get_if<CsrWeight>(&weight)) {
    const auto all = static_cast<double>(csr->channels * csr->cols);
    return all > 0 ? 1 - static_cast<double>(nonzero_count(*csr)) / all : 0;
  }
  const std::vector<float> values = dense_floats(weight);
  if (values.empty()) return 0;
  const auto zeros = std::count(values.begin(), values.end(), 0.0f);
  return static_cast<double>(zeros) / static_cast<double>(values.size());
}

LayerPlan describe_step(const DeployedModel& model, const Program& program, const Step& step) {
  LayerPlan plan;
  plan.name = step.name;
  plan.op = op_name(step.op);
  plan.output_shape = program.values[step.output].shape;
  plan.macs = macs_of(step, plan.output_shape);
  const Weight* weight = weights_of(model, step).weight;
  if (is_weighted(step) && weight != nullptr) plan.weight_sparsity = weight_sparsity(*weight);
  return plan;
}

void sort_by_time(std::vector<CandidateTiming>& candidates) {
  std::ranges::stable_sort(candidates, {}, [](const CandidateTiming& candidate) {
    return std::pair(!candidate.rejected.empty(), candidate.ms);
  });
}

}  // namespace winnow
