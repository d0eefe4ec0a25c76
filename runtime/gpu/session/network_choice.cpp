// What the planner makes of the times that it has taken.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/gpu/session/network_plan.h"
#include "runtime/plan/describe.h"

namespace winnow {

namespace {

// Which values a step reads.
std::string inputs_text(const Step& step) {
  std::string text;
  for (const std::size_t input : step.inputs) text.append(" ").append(std::to_string(input));
  return text;
}

}  // namespace

bool NetworkPlanner::has_candidate(std::size_t index, const std::string& family) const {
  return std::ranges::any_of(timed_[index],
                             [&](const Timed& timed) { return timed.candidate.family == family; });
}

// One that runs the step: what leaves it to another launch does not count.
bool NetworkPlanner::has_dense_candidate(std::size_t index) const {
  return std::ranges::any_of(timed_[index], [](const Timed& timed) {
    return timed.candidate.layer && !family_named(timed.candidate.family).is_sparse();
  });
}

bool NetworkPlanner::has_dense() const {
  for (std::size_t i = 0; i < timed_.size(); ++i) {
    if (is_weighted(i) && !has_dense_candidate(i)) return false;
  }
  return true;
}

bool NetworkPlanner::has_sparse(std::size_t index) const {
  if (weights_of(model_, program_.steps[index]).sparse() == nullptr) return false;
  return std::ranges::any_of(timed_[index], [](const Timed& timed) {
    return family_named(timed.candidate.family).is_sparse();
  });
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
      return !family_named(candidate.family).is_sparse();
    case Allowed::sparse:
      return family_named(candidate.family).is_sparse() || !has_sparse(index);
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
  const auto add = [&](CandidateTiming timing) {
    const bool is_known = std::ranges::any_of(
        timings, [&](const CandidateTiming& other) { return other.kernel == timing.kernel; });
    if (!is_known) timings.push_back(std::move(timing));
  };
  for (const Timed& timed : timed_[i]) {
    const Timing& timing = timed.timing;
    add({timed.candidate.family, timed.candidate.kernel, timing.median_ms, timing.min_ms,
         timing.cold_ms});
  }
  for (const CandidateTiming& rejected : rejected_[i]) add(rejected);
  sort_by_time(timings);
  return timings;
}

// What of a candidate decides about a network: its family first, so that only that need be asked.
std::string NetworkPlanner::identity(std::size_t index, const Candidate& candidate) const {
  const Step& step = program_.steps[index];
  std::string text = candidate.family + " | " + candidate.kernel + " |";
  for (std::size_t i = 0; i < candidate.reads.size(); ++i) {
    text.append(" ").append(to_string(formats_[step.inputs[i]][candidate.reads[i]]));
  }
  return text + " -> " + to_string(formats_[step.output][candidate.writes]);
}

std::string NetworkPlanner::key_of(const NetworkPlan& plan) const {
  std::string text;
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    text += keys_[i] + " | " + identity(i, plan.steps[i]);
    text.append(inputs_text(program_.steps[i]));
    text += "\n";
  }
  for (const Conversion& c : plan.conversions) {
    text += std::to_string(c.value) + " " + to_string(formats_[c.value][c.from]) + " -> " +
            to_string(formats_[c.value][c.to]) + "\n";
  }
  return "network " + math_name(options_.precision, options_.use_tf32) + " batch " +
         std::to_string(options_.batch) + " " + short_key(text);
}

std::string NetworkPlanner::choice_key() const {
  std::string text;
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    text += keys_[i];
    text.append(inputs_text(program_.steps[i]));
    text += "\n";
  }
  const char* const choices[] = {"measured", "sparse", "dense"};
  return "choice " + math_name(options_.precision, options_.use_tf32) + " batch " +
         std::to_string(options_.batch) + " " + choices[static_cast<int>(options_.choice)] + " " +
         options_.family + " sub_batch " + std::to_string(options_.sub_batch) +
         (options_.all_plans ? " all plans" : "") + (options_.all_tiles ? " all tiles " : " ") +
         short_key(text);
}

void NetworkPlanner::find_known() {
  if (options_.is_survey) return;
  const std::vector<ChosenKernel>* known = table_.find_choice(choice_key());
  if (known != nullptr && known->size() == program_.steps.size()) known_ = known;
}

void NetworkPlanner::keep_choice(const NetworkPlan& plan) {
  if (options_.is_survey || is_known()) return;
  std::vector<ChosenKernel> kernels;
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    kernels.push_back({0, identity(i, plan.steps[i])});
  }
  table_.keep_choice(choice_key(), std::move(kernels));
}

}  // namespace winnow
