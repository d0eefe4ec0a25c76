// What the planner makes of the times that it has taken.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/gpu/session/network_plan.h"

namespace winnow {
namespace {

std::vector<StepOption> options_of(const std::vector<Candidate>& candidates,
                                   const std::vector<double>& ms) {
  std::vector<StepOption> options;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    options.push_back({candidates[i].reads, candidates[i].writes, ms[i]});
  }
  return options;
}

}  // namespace

bool NetworkPlanner::has_candidate(std::size_t index, const std::string& family) const {
  return std::ranges::any_of(timed_[index],
                             [&](const Timed& timed) { return timed.candidate.family == family; });
}

bool NetworkPlanner::has_dense() const {
  for (std::size_t i = 0; i < timed_.size(); ++i) {
    if (is_weighted(i) && !has_candidate(i, "dense")) return false;
  }
  return true;
}

bool NetworkPlanner::is_in_stack(std::size_t index) const {
  const LinearStack* stack = stack_of_[index];
  return stack != nullptr && stack->steps.size() > 1 && has_candidate(index, "linear_stack");
}

bool NetworkPlanner::has_stacks() const {
  for (std::size_t i = 0; i < timed_.size(); ++i) {
    if (is_in_stack(i)) return true;
  }
  return false;
}

bool NetworkPlanner::is_allowed(std::size_t index, const Candidate& candidate,
                                Allowed allowed) const {
  if (!is_weighted(index)) return true;
  switch (allowed) {
    case Allowed::as_asked:
      return true;
    case Allowed::dense_only:
      return candidate.family == "dense";
    case Allowed::stacked:
      return candidate.family == "linear_stack" || !is_in_stack(index);
  }
  fail(ErrorCode::internal, "unknown rule for families");
}

NetworkPlan NetworkPlanner::plan(Allowed allowed) const {
  ChoiceProblem problem{.conversion_ms = conversion_ms_,
                        .steps = {},
                        .input = program_.input,
                        .input_format = 0,
                        .output = program_.output,
                        .output_format = 0};
  std::vector<std::vector<Candidate>> candidates(timed_.size());
  for (std::size_t i = 0; i < timed_.size(); ++i) {
    std::vector<double> ms;
    for (const Timed& timed : timed_[i]) {
      if (!is_allowed(i, timed.candidate, allowed)) continue;
      candidates[i].push_back(timed.candidate);
      ms.push_back(timed.ms);
    }
    problem.steps.push_back(
        {program_.steps[i].inputs, program_.steps[i].output, options_of(candidates[i], ms)});
  }
  Choice choice = choose_kernels(problem);
  NetworkPlan plan{formats_, {}, std::move(choice.conversions), choice.ms};
  for (std::size_t i = 0; i < timed_.size(); ++i) {
    plan.steps.push_back(std::move(candidates[i][choice.option[i]]));
  }
  return plan;
}

std::vector<CandidateTiming> NetworkPlanner::timings(std::size_t i) const {
  std::vector<CandidateTiming> timings;
  for (const Timed& timed : timed_[i]) {
    const bool is_known = std::any_of(timings.begin(), timings.end(), [&](const auto& other) {
      return other.kernel == timed.candidate.kernel;
    });
    if (!is_known) timings.push_back({timed.candidate.family, timed.candidate.kernel, timed.ms});
  }
  std::stable_sort(timings.begin(), timings.end(),
                   [](const auto& a, const auto& b) { return a.ms < b.ms; });
  return timings;
}

}  // namespace winnow
