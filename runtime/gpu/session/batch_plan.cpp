// The network for one batch size.
#include <algorithm>
#include <utility>

#include "runtime/base/error.h"
#include "runtime/gpu/session/kernel_timer.h"
#include "runtime/gpu/session/session_plan.h"
#include "runtime/plan/describe.h"

namespace winnow {
namespace {

struct NamedPlan {
  std::string name;
  NetworkPlan plan;
};

// The plans that differ, dense first (fastest_network).
std::vector<NamedPlan> plans_to_compare(const NetworkPlanner& planner) {
  std::vector<NamedPlan> plans;
  const auto add = [&](const char* name, NetworkPlan plan) {
    const std::string key = planner.key_of(plan);
    const bool is_new = std::ranges::none_of(
        plans, [&](const NamedPlan& other) { return planner.key_of(other.plan) == key; });
    if (is_new) plans.push_back({name, std::move(plan)});
  };
  const auto add_if_possible = [&](const char* name, Allowed allowed) {
    try {
      add(name, planner.plan(allowed));
    } catch (const Error& error) {  // no formats lead from one of these kernels to the next
      if (error.code() != ErrorCode::device) throw;
    }
  };
  if (planner.has_dense()) add("dense", planner.plan(Allowed::dense_only));
  add("fastest by layer", planner.plan(Allowed::as_asked));
  add_if_possible("sparse", Allowed::sparse);
  if (planner.has_stacks()) add_if_possible("stacked", Allowed::stacked);
  return plans;
}

std::vector<Timing> time_plans(const Program& program, const std::vector<NamedPlan>& plans,
                               GpuContext& gpu) {
  NetworkMemory memory;
  std::vector<std::unique_ptr<DeviceNetwork>> networks;
  for (const NamedPlan& named : plans) {
    networks.push_back(
        std::make_unique<NetworkExecutor>(program, named.plan, memory, gpu.stream()));
  }
  return time_networks(networks, element_count(program.values[program.input].shape), gpu.stream());
}

// The place of the fastest, with all as they are told.
std::size_t fastest_of(const std::vector<NamedPlan>& plans, const std::vector<Timing>& timings,
                       std::vector<NetworkTiming>& told) {
  std::vector<double> ms;
  for (const Timing& timing : timings) ms.push_back(timing.median_ms);
  const std::size_t best = fastest_network(ms);
  for (std::size_t i = 0; i < plans.size(); ++i) told.push_back({plans[i].name, ms[i], i == best});
  return best;
}

}  // namespace

std::unique_ptr<const BatchPlan> plan_batch(const DeployedModel& model,
                                            const SessionOptions& options, GpuContext& gpu,
                                            bool wants_time) {
  auto result = std::make_unique<BatchPlan>();
  const Program& program = result->planned.program = build_program(model, options.batch);
  NetworkPlanner planner(model, program, options, gpu);
  const bool is_measured = options.choice == KernelChoice::measured && !planner.is_known();
  std::vector<NamedPlan> plans;
  if (is_measured && options.family.empty() && !options.is_survey) {
    plans = plans_to_compare(planner);
  } else {
    plans.push_back({"as asked", planner.plan(Allowed::as_asked)});
  }
  std::vector<std::string> keys;
  for (const NamedPlan& named : plans) keys.push_back(planner.key_of(named.plan));
  std::size_t best = 0;
  if (plans.size() > 1 || wants_time) {
    const auto measure = [&] { return time_plans(program, plans, gpu); };
    const std::vector<Timing> timings = planner.table().get_together(keys, measure);
    best = fastest_of(plans, timings, result->networks);
    result->ms = timings[best].median_ms;
    if (plans.size() == 1) result->networks.clear();
  }
  planner.keep_choice(plans[best].plan);
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    LayerPlan layer = describe_step(model, program, program.steps[i]);
    if (is_measured) layer.candidates = planner.timings(i);
    layer.family = plans[best].plan.steps[i].family;
    layer.kernel = plans[best].plan.steps[i].kernel;
    result->layers.push_back(std::move(layer));
  }
  result->key = keys[best];
  result->counts = planner.table().counts();
  result->planned.plan = std::move(plans[best].plan);
  return result;
}

}  // namespace winnow
