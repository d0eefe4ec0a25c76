#include "runtime/bench/layer_setup.h"

#include <set>
#include <utility>
#include <variant>

#include "runtime/base/error.h"
#include "runtime/gpu/gathered/gathered_family.h"
#include "runtime/gpu/session/network_plan.h"

namespace winnow {
namespace {

Program checked_program(const DeployedModel& model, std::int64_t batch) {
  Program program = build_program(model, batch);
  const auto& steps = program.steps;
  const bool is_conv = !steps.empty() && std::holds_alternative<Conv>(steps[0].op);
  const Pool* pool = steps.size() == 2 ? std::get_if<Pool>(&steps[1].op) : nullptr;
  const bool is_pool = pool != nullptr && pool->kind == PoolKind::max;
  if (!is_conv || (steps.size() != 1 && !is_pool)) {
    fail(ErrorCode::usage,
         "a layer to measure: expected one convolution, or one and a max pooling");
  }
  return program;
}

// Values may lie as gathered convolutions have them, whatever family is asked for.
SessionOptions with_gathered(SessionOptions session) {
  session.family = "gathered";
  return session;
}

}  // namespace

LayerSetup::LayerSetup(const DeployedModel& model, const SessionOptions& session)
    : model_(model),
      program_(checked_program(model, session.batch)),
      asked_(with_gathered(session)),
      fusions_(step_fusions(program_)),
      gathered_(session_values(model, program_, asked_, fusions_)),
      orders_(gathered_.orders),
      formats_(value_formats(program_, model, session, {}, gathered_, fusions_)) {}

const Conv& LayerSetup::conv() const {
  return std::get<Conv>(program_.steps[0].op);
}

const Pool* LayerSetup::pool() const {
  return program_.steps.size() > 1 ? &std::get<Pool>(program_.steps[1].op) : nullptr;
}

LayerProblem LayerSetup::problem() const {
  return problem_of(0);
}

Extents LayerSetup::input_size() const {
  return extents_of(program_.values[program_.input].shape);
}

Extents LayerSetup::between_size() const {
  return extents_of(program_.values[program_.steps[0].output].shape);
}

Extents LayerSetup::output_size() const {
  return extents_of(program_.values[program_.steps.back().output].shape);
}

LayerProblem LayerSetup::problem_of(std::size_t index) const {
  const Step& step = program_.steps[index];
  return {model_,
          program_,
          step,
          asked_,
          {formats_[step.inputs[0]]},
          formats_[step.output],
          nullptr,
          fusions_[index],
          &gathered_.orders};
}

std::optional<ActivationFormat> LayerSetup::pooled_format(const ActivationFormat& between) const {
  for (const ActivationFormat& format : formats_[program_.steps.back().output]) {
    const bool is_like = format.layout == between.layout && format.precision == between.precision &&
                         format.channel_padding == between.channel_padding;
    if (is_like && !format.is_deferred) return format;
  }
  return std::nullopt;
}

LayerKernel LayerSetup::whole(LayerKernel convolution) const {
  if (pool() == nullptr) return convolution;
  const std::optional<ActivationFormat> out = pooled_format(convolution.out);
  if (!out.has_value()) {
    fail(ErrorCode::usage, "a layer to measure: nothing pools ", to_string(convolution.out));
  }
  convolution.between = convolution.out;
  convolution.out = *out;
  convolution.kernel += ", pool";
  return convolution;
}

std::string LayerSetup::why_not(const std::string& family, GpuContext& gpu) {
  asked_.family = family;
  return family_named(family).why_not(problem_of(0), gpu);
}

std::vector<LayerKernel> LayerSetup::kernels(const std::string& name, GpuContext& gpu) {
  const std::string reason = why_not(name, gpu);
  if (!reason.empty()) fail(ErrorCode::device, name, ": ", reason);
  const Family& family = family_named(name);
  std::vector<LayerKernel> found;
  append_alone(family, gpu, found);
  if (pool() != nullptr) append_fused(family, gpu, found);
  return found;
}

void LayerSetup::append_alone(const Family& family, GpuContext& gpu,
                              std::vector<LayerKernel>& found) const {
  const LayerProblem problem = problem_of(0);
  std::set<std::string> known;
  for (Candidate& candidate : family.candidates(problem, gpu)) {
    if (candidate.layer == nullptr || !known.insert(candidate.timing_key).second) continue;
    found.push_back(whole({.family = candidate.family,
                           .kernel = candidate.kernel,
                           .in = problem.input_formats[0][candidate.reads[0]],
                           .out = problem.output_formats[candidate.writes],
                           .layer = std::move(candidate.layer),
                           .clocks = candidate.clocks}));
  }
}

// A launch that computes the convolution on the pooling's way reads the convolution's input.
void LayerSetup::append_fused(const Family& family, GpuContext& gpu,
                              std::vector<LayerKernel>& found) const {
  const LayerProblem problem = problem_of(1);
  if (!family.why_not(problem, gpu).empty()) return;
  for (Candidate& candidate : family.candidates(problem, gpu)) {
    if (problem.input_formats[0][candidate.reads[0]] != kDeferred) continue;
    found.push_back({.family = candidate.family,
                     .kernel = candidate.kernel,
                     .in = gathered_format(gathered_, program_.input),
                     .out = problem.output_formats[candidate.writes],
                     .layer = std::move(candidate.layer),
                     .clocks = candidate.clocks});
  }
}

}  // namespace winnow
