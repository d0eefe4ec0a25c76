#include "runtime/gpu/session/network_plan.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <variant>

#include "runtime/base/error.h"
#include "runtime/base/suggest.h"
#include "runtime/gpu/gathered/gathered_family.h"
#include "runtime/gpu/linear/linear_stack.h"
#include "runtime/gpu/pointwise/convert.h"
#include "runtime/gpu/pointwise/noise.h"
#include "runtime/gpu/pointwise/sample_values.h"
#include "runtime/gpu/session/gpu_session.h"
#include "runtime/gpu/session/kernel_timer.h"

namespace winnow {
namespace {

constexpr std::size_t kAlignment = 256;
constexpr std::uint32_t kNoiseSeed = 2024;
constexpr std::size_t kNoInput = std::numeric_limits<std::size_t>::max();

std::size_t aligned(std::size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

std::size_t aligned_bytes(const ActivationFormat& format, const Extents& size) {
  return aligned(static_cast<std::size_t>(bytes_of(format, size)));
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
      formats_(value_formats(program, model, options, stacks_, gathered_, fusions_)),
      timed_(program.steps.size()),
      rejected_(program.steps.size()) {
  for (const LinearStack& stack : stacks_) {
    for (const std::size_t step : stack.steps) stack_of_[step] = &stack;
  }
  if (options.timings.cache) table_ = {options.timings, gpu_timing_place(options.gpu)};
  clock_mhz_ = highest_clock_mhz(options.gpu);
  for (const Step& step : program.steps) keys_.push_back(step_key(model, program, step));
  find_known();
  if (!time_steps()) {  // the cache means other kernels than there are
    known_ = nullptr;
    timed_.assign(program.steps.size(), {});
    time_steps();
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
  if (!format.is_deferred) return orders_.view(nullptr, format, problem.input_size(i));
  const std::size_t computed = problem.fusions.computed[i];
  const std::size_t first = computed != kNoStep ? computed : problem.stack->steps.front();
  const std::size_t source = program_.steps[first].inputs[0];
  const Extents size = extents_of(program_.values[source].shape);
  if (computed == kNoStep) return {nullptr, row_major(options_.precision), size};
  if (format.tells_source) return {nullptr, source_of(format), size};
  return orders_.view(nullptr, gathered_format(gathered_, source), size);
}

// With `known_family`, of that alone, and none where it does not run the step.
std::vector<Candidate> NetworkPlanner::candidates_of(const LayerProblem& problem,
                                                     const std::string& known_family) {
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

  const bool is_by_mask = options_.choice == KernelChoice::sparse || options_.is_survey;
  const auto is_wanted = [&](const Family& family) {
    if (!known_family.empty()) return family.name() == known_family;
    if (!is_weighted) return true;
    if (!options_.family.empty()) return family.name() == options_.family;
    if (options_.choice == KernelChoice::measured && !is_by_mask) return true;
    return family.is_sparse() == (is_by_mask && is_sparse_weight);
  };
  for (const Family* family : families()) {
    if (is_wanted(*family)) gather(*family);
  }
  if (!known_family.empty()) return found;
  // A dense weight with "sparse wherever one fits" and no dense library still has the direct
  // kernel.
  if (found.empty() && is_weighted && options_.family.empty() && is_by_mask) {
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

struct NetworkPlanner::Trial {
  const Candidate& candidate;
  std::vector<ActivationView> in;
  ActivationView out;
  Workspace workspace;
  std::byte* inputs = nullptr;  // all of them, one after the other
  std::size_t in_bytes = 0;
  std::size_t out_bytes = 0;
  std::byte* row_major = nullptr;  // for an input or the output, where they are checked

  void launch(cudaStream_t stream) const { candidate.layer->launch(in, out, workspace, stream); }
};

NetworkPlanner::Trial NetworkPlanner::make_trial(const LayerProblem& problem,
                                                 const Candidate& candidate, bool is_checked) {
  const ActivationFormat& out_format = problem.output_formats[candidate.writes];
  Trial trial{.candidate = candidate, .in = {}, .out = {}, .workspace = {}};
  for (std::size_t i = 0; i < candidate.reads.size(); ++i) {
    trial.in.push_back(input_view(problem, i, problem.input_formats[i][candidate.reads[i]]));
    trial.in_bytes += aligned_bytes(trial.in.back().format, trial.in.back().size);
  }
  trial.out_bytes = aligned_bytes(out_format, problem.output_size());
  const std::size_t workspace_bytes = candidate.layer->workspace_bytes();
  const std::size_t used = trial.in_bytes + trial.out_bytes + aligned(workspace_bytes);
  std::size_t row_major_bytes = 0;
  if (is_checked) {
    row_major_bytes = aligned_bytes(row_major(Precision::f32), problem.output_size());
    for (const ActivationView& in : trial.in) {
      row_major_bytes =
          std::max(row_major_bytes, aligned_bytes(row_major(options_.precision), in.size));
    }
  }
  trial.inputs = scratch(used + row_major_bytes + kAlignment);
  std::byte* next = trial.inputs;
  for (ActivationView& view : trial.in) {
    view.data = next;
    next += aligned_bytes(view.format, view.size);
  }
  trial.out = orders_.view(next, out_format, problem.output_size());
  trial.workspace = {next + trial.out_bytes, workspace_bytes};
  trial.row_major = trial.inputs + used;
  return trial;
}

// The step alone, or with the convolution of one of its inputs.
struct NetworkPlanner::Contest {
  std::optional<LayerCheck> check;  // made when it is first asked for
  double best_ms = kImpossible;
};

// The input that the candidate's launch convolves on its way; kNoInput if there is none.
std::size_t NetworkPlanner::convolved_input(const LayerProblem& problem,
                                            const Candidate& candidate) const {
  for (std::size_t i = 0; i < candidate.reads.size(); ++i) {
    const std::size_t computed = problem.fusions.computed[i];
    const bool is_conv =
        computed != kNoStep && std::holds_alternative<Conv>(program_.steps[computed].op);
    if (is_conv && problem.input_formats[i][candidate.reads[i]].is_deferred) return i;
  }
  return kNoInput;
}

// Of launches that compute several layers, libraries' alone. A map has the values that it is
// flattened to, in the same order.
bool NetworkPlanner::is_checkable(const LayerProblem& problem, const Candidate& candidate) const {
  if (convolved_input(problem, candidate) != kNoInput) return candidate.family == "dense";
  if (!winnow::is_weighted(problem.step)) return false;
  if (problem.output_formats[candidate.writes].is_deferred) return false;
  if (!problem.input_formats[0][candidate.reads[0]].is_deferred) return true;
  const std::size_t computed = problem.fusions.computed[0];
  return computed != kNoStep && std::holds_alternative<Flatten>(program_.steps[computed].op);
}

// Runs the kernel once on the check's inputs.
std::string NetworkPlanner::defect_of(const LayerProblem& problem, const Trial& trial,
                                      const LayerCheck& check) {
  constexpr int kNoNumbers = 0xff;  // bytes of half floats and floats that are none
  CUDA_CHECK(cudaMemsetAsync(trial.inputs, 0, trial.in_bytes, gpu_.stream()));
  CUDA_CHECK(cudaMemsetAsync(trial.out.data, kNoNumbers, trial.out_bytes, gpu_.stream()));
  const std::size_t convolved = convolved_input(problem, trial.candidate);
  for (std::size_t i = 0; i < trial.in.size(); ++i) {
    const ActivationView& in = trial.in[i];
    const ActivationView plain{trial.row_major, row_major(options_.precision), in.size};
    const bool is_addend = convolved != kNoInput && i != convolved;
    const std::uint32_t seed = is_addend ? LayerCheck::kAddendSeed : LayerCheck::kSeed;
    fill_noise(plain.data, in.size.count(), options_.precision, seed, gpu_.stream());
    convert(plain, in, gpu_.stream());
  }
  trial.launch(gpu_.stream());
  return check.defect(sample_values(trial.out, check.positions(), trial.row_major, gpu_.stream()));
}

// Of the step, or of its sum with the convolution of input `convolved`.
const LayerCheck& NetworkPlanner::check_of(const LayerProblem& problem, std::size_t convolved,
                                           Contest& contest) const {
  if (contest.check) return *contest.check;
  const bool is_sum = convolved != kNoInput;
  const Step& layer = is_sum ? program_.steps[problem.fusions.computed[convolved]] : problem.step;
  return contest.check.emplace(model_, program_, layer, options_.precision, options_.use_tf32,
                               is_sum ? &problem.step : nullptr);
}

Timing NetworkPlanner::time_candidate(const LayerProblem& problem, const Candidate& candidate,
                                      Contest& contest) {
  const bool is_checked = is_checkable(problem, candidate);
  const Trial trial = make_trial(problem, candidate, is_checked);
  const Enqueue enqueue = [&](cudaStream_t stream) { trial.launch(stream); };
  try {
    if (is_checked) {
      const std::size_t convolved = convolved_input(problem, candidate);
      const LayerCheck& check = check_of(problem, convolved, contest);
      const std::string defect = defect_of(problem, trial, check);
      if (!defect.empty()) return rejected_for(defect);
    } else {
      const Precision precision = options_.precision;
      fill_noise(trial.inputs, static_cast<std::int64_t>(trial.in_bytes) / size_of(precision),
                 precision, kNoiseSeed, gpu_.stream());
    }
    Timing timing = time_kernel(enqueue, contest.best_ms, gpu_.stream());
    if (table_.wants_cold()) timing.cold_ms = cold_ms_of(enqueue, gpu_.stream());
    timing.clock_mhz = clock_mhz_;
    return timing;
  } catch (const Error& error) {
    // A library may refuse a kernel when it is launched. Our own kernels never do.
    if (candidate.family != "dense" || error.code() != ErrorCode::device) throw;
    gpu_.synchronize();
    return rejected_for("was refused: " + one_line(error.what()));
  }
}

// False if a step has not the candidate that the cache knows.
bool NetworkPlanner::time_steps() {
  for (std::size_t i = 0; i < program_.steps.size(); ++i) {
    if (!time_step(i)) return false;
    if (options_.progress) options_.progress(i + 1, program_.steps.size());
  }
  return true;
}

bool NetworkPlanner::find_known_candidate(std::size_t index, const LayerProblem& problem) {
  const std::string& chosen = (*known_)[index].kernel;
  for (Candidate& candidate : candidates_of(problem, chosen.substr(0, chosen.find(" | ")))) {
    if (identity(index, candidate) != chosen) continue;
    timed_[index].push_back({std::move(candidate), {}});
    return true;
  }
  return false;
}

bool NetworkPlanner::time_step(std::size_t index) {
  const LayerProblem problem = problem_of(index);
  if (known_ != nullptr) return find_known_candidate(index, problem);
  const std::string key =
      math_name(options_.precision, options_.use_tf32) + " " + keys_[index] + " | ";
  std::map<std::size_t, Contest> contests;  // by the input that is convolved
  std::string reasons;
  for (Candidate& candidate : candidates_of(problem, "")) {
    Contest& contest = contests[convolved_input(problem, candidate)];
    const auto measure = [&] { return time_candidate(problem, candidate, contest); };
    const Timing timing = candidate.layer == nullptr
                              ? Timing{}
                              : table_.get(key + candidate.timing_key, measure, true);
    if (!timing.rejected.empty()) {
      rejected_[index].push_back({candidate.family, candidate.kernel, 0, 0, 0, timing.rejected});
      reasons += (reasons.empty() ? "" : "; ") + candidate.kernel + " " + timing.rejected;
      continue;
    }
    if (candidate.layer) contest.best_ms = std::min(contest.best_ms, timing.median_ms);
    timed_[index].push_back({std::move(candidate), timing});
  }
  // A step that other launches may compute has to have a kernel of its own all the same.
  const bool has_kernel = std::ranges::any_of(
      timed_[index], [](const Timed& timed) { return timed.candidate.layer != nullptr; });
  if (has_kernel || reasons.empty()) return true;
  fail(ErrorCode::device, model_.graph.name, ": node '", problem.step.name,
       "': no kernel computes it rightly (", reasons, ")");
}

double NetworkPlanner::time_conversion(std::size_t value, std::size_t from, std::size_t to) {
  const Extents size = extents_of(program_.values[value].shape);
  const ActivationFormat& source = formats_[value][from];
  const ActivationFormat& target = formats_[value][to];
  if (is_same_memory(source, target, size)) return 0;
  const std::string key = "convert " + to_string(program_.values[value].shape) + " " +
                          to_string(source) + " -> " + to_string(target);
  return table_.get(key, [&] { return measure_conversion(source, target, size); }).median_ms;
}

Timing NetworkPlanner::measure_conversion(const ActivationFormat& source,
                                          const ActivationFormat& target, const Extents& size) {
  const std::size_t in_bytes = aligned_bytes(source, size);
  std::byte* data = scratch(in_bytes + aligned_bytes(target, size));
  fill_noise(data, static_cast<std::int64_t>(in_bytes) / size_of(source.precision),
             source.precision, kNoiseSeed, gpu_.stream());
  const ActivationView in = orders_.view(data, source, size);
  const ActivationView out = orders_.view(data + in_bytes, target, size);
  return time_kernel([&](cudaStream_t stream) { convert(in, out, stream); }, kImpossible,
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
          {timed.candidate.reads, timed.candidate.writes, timed.timing.median_ms});
    }
  }
  std::vector<std::size_t> counts;
  for (const auto& formats : formats_) counts.push_back(formats.size());
  time_conversions(
      counts,
      [&](std::size_t value, std::size_t from, std::size_t to) {
        const bool has_memory =
            !formats_[value][from].is_deferred && !formats_[value][to].is_deferred;
        return has_memory ? time_conversion(value, from, to) : kImpossible;
      },
      problem_);
}

}  // namespace winnow
