// What the planner makes of the times that it has taken.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/gpu/session/network_plan.h"

namespace winnow {

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
  ChoiceProblem problem = problem_;
  for (std::size_t i = 0; i < timed_.size(); ++i) {
    for (std::size_t c = 0; c < timed_[i].size(); ++c) {
      if (is_allowed(i, timed_[i][c].candidate, allowed)) continue;
      problem.steps[i].options[c].ms = kImpossible;
    }
  }
  Choice choice = choose_kernels(problem);
  NetworkPlan plan{formats_, {}, std::move(choice.conversions), orders_};
  for (std::size_t i = 0; i < timed_.size(); ++i) {
    plan.steps.push_back(timed_[i][choice.option[i]].candidate);
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
