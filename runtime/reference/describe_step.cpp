#include <algorithm>
#include <variant>

#include "runtime/reference/reference_session.h"

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

double sparsity_of(const Weight& weight) {
  if (const auto* csr = std::get_if<CsrWeight>(&weight)) {
    const auto all = static_cast<double>(csr->channels * csr->cols);
    return all > 0 ? 1 - static_cast<double>(nonzero_count(*csr)) / all : 0;
  }
  const std::vector<float> values = decode(std::get<DenseWeight>(weight).values);
  if (values.empty()) return 0;
  const auto zeros = std::count(values.begin(), values.end(), 0.0f);
  return static_cast<double>(zeros) / static_cast<double>(values.size());
}

}  // namespace

LayerPlan describe_step(const DeployedModel& model, const Program& program, const Step& step) {
  LayerPlan plan;
  plan.name = step.name;
  plan.op = op_name(step.op);
  plan.output_shape = program.values[step.output].shape;
  plan.macs = macs_of(step, plan.output_shape);
  const bool has_macs =
      std::holds_alternative<Conv>(step.op) || std::holds_alternative<Linear>(step.op);
  const auto weight = model.weights.find(step.weight);
  if (has_macs && weight != model.weights.end()) plan.weight_sparsity = sparsity_of(weight->second);
  return plan;
}

}  // namespace winnow
