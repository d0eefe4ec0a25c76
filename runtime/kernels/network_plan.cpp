#include "runtime/kernels/network_plan.h"

#include <algorithm>
#include <map>
#include <variant>

#include "runtime/base/error.h"
#include "runtime/kernels/convert.h"
#include "runtime/kernels/family_list.h"
#include "runtime/kernels/kernel_timer.h"
#include "runtime/kernels/linear_stack.h"
#include "runtime/kernels/noise.h"

namespace winnow {
namespace {

constexpr std::size_t kAlignment = 256;
constexpr std::uint32_t kNoiseSeed = 2024;

std::size_t aligned_bytes(const ActivationFormat& format, const ActivationSize& size) {
  const auto bytes = static_cast<std::size_t>(bytes_of(format, size));
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

// What a step reads for input i in this format, without the address: of a deferred value that which
// the run begins with.
ActivationView input_view(const LayerProblem& problem, std::size_t i,
                          const ActivationFormat& format) {
  if (format != kDeferred) return {nullptr, format, problem.input_size(i)};
  const Step& first = problem.program.steps[problem.run->steps.front()];
  return {nullptr, plain(problem.options.precision),
          activation_size(problem.program.values[first.inputs[0]].shape)};
}

}  // namespace

NetworkPlanner::NetworkPlanner(const DeployedModel& model, const Program& program,
                               const SessionOptions& options, GpuContext& gpu, TimingTable& table)
    : model_(model),
      program_(program),
      options_(options),
      gpu_(gpu),
      table_(table),
      runs_(linear_runs(program, model, most_stack_features(gpu.shared_bytes_per_block()))),
      run_of_(program.steps.size(), nullptr),
      formats_(value_formats(program, model, options, runs_)),
      timed_(program.steps.size()) {
  for (const LinearRun& run : runs_) {
    for (const std::size_t step : run.steps) run_of_[step] = &run;
  }
  for (std::size_t i = 0; i < program_.steps.size(); ++i) {
    time_step(i);
    if (options_.progress) options_.progress(i + 1, program_.steps.size());
  }
  time_conversions();
  scratch_ = DeviceBuffer<std::byte>();
}

bool NetworkPlanner::is_weighted(std::size_t index) const {
  const Op& op = program_.steps[index].op;
  return std::holds_alternative<Conv>(op) || std::holds_alternative<Linear>(op);
}

LayerProblem NetworkPlanner::problem_of(std::size_t index) const {
  const Step& step = program_.steps[index];
  LayerProblem problem{model_, program_, step, options_, {}, formats_[step.output], run_of_[index]};
  for (const std::size_t input : step.inputs) problem.input_formats.push_back(formats_[input]);
  return problem;
}

std::vector<Candidate> NetworkPlanner::candidates_of(const LayerProblem& problem) {
  const Op& op = problem.step.op;
  const bool is_weighted = std::holds_alternative<Conv>(op) || std::holds_alternative<Linear>(op);
  const bool is_sparse_weight =
      is_weighted && std::holds_alternative<CsrWeight>(model_.weights.at(problem.step.weight));
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
  const ActivationView out{next, out_format, problem.output_size()};
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
  const std::string key = gpu_.name() + " | " + timing_key(problem) + " | ";
  double best_ms = kImpossible;
  for (Candidate& candidate : candidates_of(problem)) {
    const auto known = table_.find(key + candidate.timing_key);
    const double ms =
        known != table_.end() ? known->second : time_candidate(problem, candidate, best_ms);
    table_[key + candidate.timing_key] = ms;
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
  const ActivationSize size = activation_size(program_.values[value].shape);
  const ActivationFormat& source = formats_[value][from];
  const ActivationFormat& target = formats_[value][to];
  if (is_same_memory(source, target, size)) return 0;
  const std::string key = gpu_.name() + " | convert " + to_string(program_.values[value].shape) +
                          " " + to_string(source) + " -> " + to_string(target);
  const auto known = table_.find(key);
  if (known != table_.end()) return known->second;
  const std::size_t in_bytes = aligned_bytes(source, size);
  std::byte* data = scratch(in_bytes + aligned_bytes(target, size));
  fill_noise(data, static_cast<std::int64_t>(in_bytes) / size_of(source.precision),
             source.precision, kNoiseSeed, gpu_.stream());
  const ActivationView in{data, source, size};
  const ActivationView out{data + in_bytes, target, size};
  const double ms =
      time_once([&](cudaStream_t stream) { convert(in, out, stream); }, kImpossible, gpu_.stream());
  table_[key] = ms;
  return ms;
}

// Only between formats that some kernel writes and formats that some kernel reads.
void NetworkPlanner::time_conversions() {
  std::vector<std::uint32_t> written(formats_.size(), 0), read(formats_.size(), 0);
  written[program_.input] = 1;
  read[program_.output] = 1;
  for (std::size_t i = 0; i < program_.steps.size(); ++i) {
    const Step& step = program_.steps[i];
    for (const Timed& timed : timed_[i]) {
      written[step.output] |= 1u << timed.candidate.writes;
      for (std::size_t k = 0; k < step.inputs.size(); ++k) {
        read[step.inputs[k]] |= 1u << timed.candidate.reads[k];
      }
    }
  }
  conversion_ms_.resize(formats_.size());
  for (std::size_t v = 0; v < formats_.size(); ++v) {
    const std::size_t count = formats_[v].size();
    conversion_ms_[v].assign(count, std::vector<double>(count, kImpossible));
    for (std::size_t from = 0; from < count; ++from) {
      conversion_ms_[v][from][from] = 0;
      for (std::size_t to = 0; to < count; ++to) {
        const bool is_wanted = ((written[v] >> from) & (read[v] >> to) & 1u) != 0 &&
                               formats_[v][from] != kDeferred && formats_[v][to] != kDeferred;
        if (from != to && is_wanted) conversion_ms_[v][from][to] = time_conversion(v, from, to);
      }
    }
  }
}

}  // namespace winnow
