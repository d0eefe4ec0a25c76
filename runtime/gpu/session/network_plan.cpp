#include "runtime/gpu/session/network_plan.h"

#include <algorithm>
#include <map>
#include <variant>

#include "runtime/base/error.h"
#include "runtime/gpu/gathered/gathered_family.h"
#include "runtime/gpu/linear/linear_stack.h"
#include "runtime/gpu/pointwise/convert.h"
#include "runtime/gpu/pointwise/noise.h"
#include "runtime/gpu/session/kernel_timer.h"

namespace winnow {
namespace {

constexpr std::size_t kAlignment = 256;
constexpr std::uint32_t kNoiseSeed = 2024;

std::size_t aligned_bytes(const ActivationFormat& format, const Extents& size) {
  const auto bytes = static_cast<std::size_t>(bytes_of(format, size));
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace

NetworkPlanner::NetworkPlanner(const DeployedModel& model, const Program& program,
                               const SessionOptions& options, GpuContext& gpu)
    : model_(model),
      program_(program),
      options_(options),
      gpu_(gpu),
      stacks_(linear_stacks(program, model, most_stack_features(gpu.shared_bytes_per_block()))),
      stack_of_(program.steps.size(), nullptr),
      fusions_(step_fusions(program)),
      gathered_(session_values(model, program, options, fusions_)),
      orders_(gathered_.orders),
      formats_(value_formats(program, model, options, stacks_, gathered_)),
      timed_(program.steps.size()) {
  for (const LinearStack& stack : stacks_) {
    for (const std::size_t step : stack.steps) stack_of_[step] = &stack;
  }
  for (std::size_t i = 0; i < program_.steps.size(); ++i) {
    time_step(i);
    if (options_.progress) options_.progress(i + 1, program_.steps.size());
  }
  describe_problem();
  scratch_ = DeviceBuffer<std::byte>();
}

bool NetworkPlanner::is_weighted(std::size_t index) const {
  return winnow::is_weighted(program_.steps[index]);
}

LayerProblem NetworkPlanner::problem_of(std::size_t index) const {
  const Step& step = program_.steps[index];
  LayerProblem problem{model_,
                       program_,
                       step,
                       options_,
                       {},
                       formats_[step.output],
                       stack_of_[index],
                       fusions_[index],
                       &gathered_.orders};
  for (const std::size_t input : step.inputs) problem.input_formats.push_back(formats_[input]);
  return problem;
}

// What a step reads for input i in this format, without the address: of a deferred value that which
// it is computed from.
ActivationView NetworkPlanner::input_view(const LayerProblem& problem, std::size_t i,
                                          const ActivationFormat& format) const {
  if (format != kDeferred) return orders_.view(nullptr, format, problem.input_size(i));
  const std::size_t computed = problem.fusions.computed[i];
  const std::size_t first = computed != kNoStep ? computed : problem.stack->steps.front();
  const std::size_t source = program_.steps[first].inputs[0];
  const Extents size = extents_of(program_.values[source].shape);
  if (computed == kNoStep) return {nullptr, row_major(options_.precision), size};
  return orders_.view(nullptr, gathered_format(gathered_, source), size);
}

std::vector<Candidate> NetworkPlanner::candidates_of(const LayerProblem& problem) {
  const bool is_weighted = winnow::is_weighted(problem.step);
  const bool is_sparse_weight = is_weighted && problem.weights().sparse() != nullptr;
  std::vector<Candidate> found;
  std::string reasons;
  const auto gather = [&](const Family& family) {
    const std::string reason = family.why_not(problem, gpu_);
    if (!reason.empty()) {
      reasons += (reasons.empty() ? "" : "; ") + family.name() + ": " + reason;
      return;
    }
    for (Candidate& candidate : family.candidates(problem, gpu_)) {
      found.push_back(std::move(candidate));
    }
  };

  const auto is_wanted = [&](const Family& family) {
    if (!is_weighted) return true;
    if (!options_.family.empty()) return family.name() == options_.family;
    if (options_.choice == KernelChoice::measured) return true;
    return family.is_sparse() == (options_.choice == KernelChoice::sparse && is_sparse_weight);
  };
  for (const Family* family : families()) {
    if (is_wanted(*family)) gather(*family);
  }
  // A dense weight with "sparse wherever one fits" and no dense library still has the direct
  // kernel.
  if (found.empty() && is_weighted && options_.family.empty() &&
      options_.choice == KernelChoice::sparse) {
    for (const Family* family : families()) gather(*family);
  }
  if (!found.empty()) return found;
  const ErrorCode code = options_.family.empty() ? ErrorCode::device : ErrorCode::usage;
  fail(code, model_.graph.name, ": node '", problem.step.name, "': no kernel can run it (", reasons,
       ")");
}

std::byte* NetworkPlanner::scratch(std::size_t bytes) {
  if (scratch_.bytes() < bytes) {
    scratch_ = DeviceBuffer<std::byte>();  // frees first
    scratch_ = DeviceBuffer<std::byte>(bytes);
  }
  return scratch_.get();
}

double NetworkPlanner::time_candidate(const LayerProblem& problem, const Candidate& candidate,
                                      double best_ms) {
  if (candidate.layer == nullptr) return 0;
  const ActivationFormat& out_format = problem.output_formats[candidate.writes];
  std::vector<ActivationView> in;
  std::size_t in_bytes = 0;
  for (std::size_t i = 0; i < candidate.reads.size(); ++i) {
    in.push_back(input_view(problem, i, problem.input_formats[i][candidate.reads[i]]));
    in_bytes += aligned_bytes(in.back().format, in.back().size);
  }
  const std::size_t out_bytes = aligned_bytes(out_format, problem.output_size());
  std::byte* data = scratch(in_bytes + out_bytes + candidate.layer->workspace_bytes() + kAlignment);
  const Precision precision = options_.precision;
  fill_noise(data, static_cast<std::int64_t>(in_bytes) / size_of(precision), precision, kNoiseSeed,
             gpu_.stream());

  std::byte* next = data;
  for (ActivationView& view : in) {
    view.data = next;
    next += aligned_bytes(view.format, view.size);
  }
  const ActivationView out = orders_.view(next, out_format, problem.output_size());
  const Workspace workspace{next + out_bytes, candidate.layer->workspace_bytes()};
  try {
    return time_once(
        [&](cudaStream_t stream) { candidate.layer->launch(in, out, workspace, stream); }, best_ms,
        gpu_.stream());
  } catch (const Error& error) {
    // A library may refuse a kernel when it is launched. Our own kernels never do.
    if (candidate.family != "dense" || error.code() != ErrorCode::device) throw;
    gpu_.synchronize();
    return kImpossible;
  }
}

void NetworkPlanner::time_step(std::size_t index) {
  const LayerProblem problem = problem_of(index);
  const std::string key = gpu_.name() + " | " + step_key(model_, program_, problem.step) + " | ";
  double best_ms = kImpossible;
  for (Candidate& candidate : candidates_of(problem)) {
    const double ms = table_.get(key + candidate.timing_key,
                                 [&] { return time_candidate(problem, candidate, best_ms); });
    if (ms == kImpossible) continue;
    best_ms = std::min(best_ms, ms);
    timed_[index].push_back({std::move(candidate), ms});
  }
  if (timed_[index].empty()) {
    fail(ErrorCode::device, model_.graph.name, ": node '", problem.step.name,
         "': every kernel that fits was refused by the device's libraries");
  }
}

double NetworkPlanner::time_conversion(std::size_t value, std::size_t from, std::size_t to) {
  const Extents size = extents_of(program_.values[value].shape);
  const ActivationFormat& source = formats_[value][from];
  const ActivationFormat& target = formats_[value][to];
  if (is_same_memory(source, target, size)) return 0;
  const std::string key = gpu_.name() + " | convert " + to_string(program_.values[value].shape) +
                          " " + to_string(source) + " -> " + to_string(target);
  return table_.get(key, [&] { return measure_conversion(source, target, size); });
}

double NetworkPlanner::measure_conversion(const ActivationFormat& source,
                                          const ActivationFormat& target, const Extents& size) {
  const std::size_t in_bytes = aligned_bytes(source, size);
  std::byte* data = scratch(in_bytes + aligned_bytes(target, size));
  fill_noise(data, static_cast<std::int64_t>(in_bytes) / size_of(source.precision),
             source.precision, kNoiseSeed, gpu_.stream());
  const ActivationView in = orders_.view(data, source, size);
  const ActivationView out = orders_.view(data + in_bytes, target, size);
  return time_once([&](cudaStream_t stream) { convert(in, out, stream); }, kImpossible,
                   gpu_.stream());
}

// All candidates as numbers, and the times of the conversions between their formats.
void NetworkPlanner::describe_problem() {
  problem_.input = program_.input;
  problem_.output = program_.output;
  for (std::size_t i = 0; i < program_.steps.size(); ++i) {
    const Step& step = program_.steps[i];
    problem_.steps.push_back({step.inputs, step.output, {}});
    for (const Timed& timed : timed_[i]) {
      problem_.steps[i].options.push_back(
          {timed.candidate.reads, timed.candidate.writes, timed.ms});
    }
  }
  std::vector<std::size_t> counts;
  for (const auto& formats : formats_) counts.push_back(formats.size());
  time_conversions(
      counts,
      [&](std::size_t value, std::size_t from, std::size_t to) {
        const bool has_memory =
            formats_[value][from] != kDeferred && formats_[value][to] != kDeferred;
        return has_memory ? time_conversion(value, from, to) : kImpossible;
      },
      problem_);
}

}  // namespace winnow
