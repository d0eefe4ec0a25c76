#include "runtime/gpu/session/session_plan.h"

#include <algorithm>
#include <utility>

#include "runtime/device/attribute.h"
#include "runtime/gpu/session/gpu_session.h"
#include "runtime/gpu/session/kernel_timer.h"
#include "runtime/plan/network_cut.h"

namespace winnow {
namespace {

constexpr int kStepWarmUp = 1;
constexpr int kStepRepeats = 5;

void add(TimingCounts& counts, const TimingCounts& more) {
  counts.measured += more.measured;
  counts.cached += more.cached;
}

bool may_cut(const SessionOptions& options) {
  return options.choice == KernelChoice::measured && options.family.empty() && !options.is_survey;
}

std::vector<std::int64_t> parts_to_try(const Program& program, const SessionOptions& options) {
  if (!may_cut(options)) return {};
  const int cache_bytes = device_attribute(cudaDevAttrL2CacheSize, options.gpu);
  return sub_batches(program, size_of(options.precision), cache_bytes);
}

std::string part_name(std::size_t cut, std::int64_t part) {
  return std::to_string(cut) + " steps in sub-batches of " + std::to_string(part);
}

}  // namespace

SessionPlan::SessionPlan(const DeployedModel& model, const SessionOptions& options)
    : options_(options), gpu_(options.gpu) {
  if (options.any_batch) {
    sizes_ = batch_sizes(options.batch);
  } else {
    sizes_ = {options.batch};
  }
  for (const std::int64_t size : sizes_) add_plan(model, size);
  layers_ = whole().layers;
  networks_ = whole().networks;
  std::vector<TimedBatch> timed;
  for (const std::int64_t size : sizes_) timed.push_back({size, plans_.at(size)->ms});
  cover_ = std::make_unique<const BatchCover>(std::move(timed));
  plan_parts(model);
}

// Progress is that of the whole batch's plan alone.
void SessionPlan::add_plan(const DeployedModel& model, std::int64_t batch) {
  if (plans_.contains(batch)) return;
  SessionOptions options = options_;
  options.batch = batch;
  if (batch != options_.batch) options.progress = nullptr;
  const SharingUploads sharing(uploads_);
  auto plan = plan_batch(model, options, gpu_, sizes_.size() > 1);
  add(counts_, plan->counts);
  plans_.emplace(batch, std::move(plan));
}

// Milliseconds of each step, run again and again: what fits the L2 cache is found there.
std::vector<double> SessionPlan::step_times(const PlannedProgram& planned) {
  NetworkMemory memory;
  const NetworkExecutor network(planned.program, planned.plan, memory, gpu_.stream());
  std::vector<double> times;
  for (std::size_t i = 0; i < planned.program.steps.size(); ++i) {
    const Enqueue enqueue = [&](cudaStream_t stream) { network.enqueue_step(i, stream); };
    times.push_back(network.is_free(i) ? 0
                                       : timing_of(time_repeatedly(enqueue, kStepWarmUp,
                                                                   kStepRepeats, gpu_.stream()))
                                             .median_ms);
  }
  return times;
}

// The fastest of the whole network, of all steps on parts, and of the cut that the steps' times
// speak for. Its one kernel names the cut (the slot) and the part.
Timing SessionPlan::time_cuts(const std::vector<std::int64_t>& parts) {
  const PlannedProgram& all = whole().planned;
  const std::size_t steps = all.program.steps.size();
  struct Way {
    std::size_t cut;
    std::int64_t part;
  };
  std::vector<Way> ways = {{0, 0}};
  const std::vector<double> whole_ms = step_times(all);
  for (const std::int64_t part : parts) {
    const PlannedProgram& some = plans_.at(part)->planned;
    const auto runs = static_cast<double>(options_.batch / part);
    const std::size_t cut = best_cut(step_times(some), runs, whole_ms, possible_cuts(some, all));
    ways.push_back({steps, part});
    if (cut != 0) ways.push_back({cut, part});
  }
  NetworkMemory memory;
  std::vector<std::unique_ptr<DeviceNetwork>> networks;
  for (const Way& way : ways) {
    cut_ = way.cut;
    part_ = way.part;
    networks.push_back(make_network(sizes_.size() - 1, memory, gpu_.stream()));
  }
  cut_ = 0;
  part_ = 0;
  const std::int64_t inputs = element_count(all.program.values[all.program.input].shape);
  const std::vector<Timing> timings = time_networks(networks, inputs, gpu_.stream());
  std::vector<double> ms;
  for (const Timing& timing : timings) ms.push_back(timing.median_ms);
  const std::size_t best = fastest_network(ms);
  if (networks_.empty()) networks_.push_back({"whole batch", ms[0], true});
  for (std::size_t i = 1; i < ways.size(); ++i) {
    networks_.push_back({part_name(ways[i].cut, ways[i].part), ms[i], false});
  }
  if (best > 0) {
    for (NetworkTiming& network : networks_) network.is_chosen = false;
    networks_[networks_.size() - ways.size() + best].is_chosen = true;
  }
  Timing timing = timings[best];
  timing.kernels = {{static_cast<int>(ways[best].cut), std::to_string(ways[best].part)}};
  return timing;
}

void SessionPlan::plan_parts(const DeployedModel& model) {
  const std::vector<std::int64_t> parts = parts_to_try(program(), options_);
  if (parts.empty()) return;
  std::string key = whole().key;
  for (const std::int64_t part : parts) {
    add_plan(model, part);
    key += "\n" + plans_.at(part)->key;
  }
  TimingTable table;
  if (options_.timings.cache) table = {options_.timings, gpu_timing_place(options_.gpu)};
  const Timing& known =
      table.get("cut batch " + std::to_string(options_.batch) + " " + short_key(key),
                [&] { return time_cuts(parts); });
  add(counts_, table.counts());
  for (const std::int64_t part : parts) {
    const bool is_named = known.kernels.size() == 1 && known.kernels[0].slot > 0 &&
                          known.kernels[0].kernel == std::to_string(part);
    if (is_named) take_cut(static_cast<std::size_t>(known.kernels[0].slot), part);
  }
  std::erase_if(plans_, [&](const auto& entry) {  // frees weights
    return entry.first != part_ && !std::ranges::binary_search(sizes_, entry.first);
  });
}

void SessionPlan::take_cut(std::size_t cut, std::int64_t part) {
  const std::size_t steps = program().steps.size();
  const std::vector<std::size_t> cuts = possible_cuts(plans_.at(part)->planned, whole().planned);
  if (cut != steps && !std::ranges::binary_search(cuts, cut)) return;  // the cache means another
  cut_ = cut;
  part_ = part;
  for (std::size_t i = 0; i < cut; ++i) {
    layers_[i] = plans_.at(part)->layers[i];
    layers_[i].kernel += ", in sub-batches of " + std::to_string(part);
    layers_[i].output_shape = whole().layers[i].output_shape;
    layers_[i].macs = whole().layers[i].macs;
  }
}

std::unique_ptr<DeviceNetwork> SessionPlan::make_network(std::size_t index, NetworkMemory& memory,
                                                         cudaStream_t stream) const {
  const PlannedProgram& planned = plans_.at(sizes_[index])->planned;
  if (cut_ > 0 && index + 1 == sizes_.size()) {
    return std::make_unique<SubBatchNetwork>(plans_.at(part_)->planned, planned, cut_, memory,
                                             stream);
  }
  return std::make_unique<NetworkExecutor>(planned.program, planned.plan, memory, stream);
}

}  // namespace winnow
