#include "runtime/cpu/split_planner.h"

#include <algorithm>
#include <limits>

#include "runtime/base/wall_clock.h"
#include "runtime/cpu/network_timing.h"
#include "runtime/cpu/split_network.h"
#include "runtime/plan/network_cut.h"
#include "runtime/plan/timing_table.h"

namespace winnow {
namespace {

constexpr std::int64_t kImagesPerThread = 2;

// The least time of each step in runs of all.
std::vector<double> step_times(const PlannedNetwork& planned, ThreadPool& pool) {
  constexpr int kRounds = 3, kFewestRounds = 2;
  constexpr double kBudgetMs = 500;
  std::vector<double> times(planned.layers.size(), std::numeric_limits<double>::infinity());
  double spent = 0;
  for (int round = 0; round < kRounds && (round < kFewestRounds || spent < kBudgetMs); ++round) {
    for (std::size_t step = 0; step < times.size(); ++step) {
      const double ms = run_ms([&] { planned.network->run_step(step, pool); });
      times[step] = std::min(times[step], ms);
      spent += ms;
    }
  }
  return times;
}

// The cut of least time by the times of single steps; 0 if there is none.
std::size_t measured_cut(const PlannedNetwork& single, const PlannedNetwork& whole,
                         ThreadPool& pool) {
  ThreadPool one(1);
  const std::vector<double> single_ms = step_times(single, one), whole_ms = step_times(whole, pool);
  const std::int64_t images = whole.made_from.program.batch;
  const auto runs = static_cast<double>((images + pool.threads() - 1) / pool.threads());
  return best_cut(single_ms, runs, whole_ms, possible_cuts(single.made_from, whole.made_from));
}

// The layers of a cut network: kernels of one image before the cut.
std::vector<LayerPlan> split_layers(const PlannedNetwork& single, const PlannedNetwork& whole,
                                    std::size_t cut) {
  std::vector<LayerPlan> layers = whole.layers;
  for (std::size_t i = 0; i < cut; ++i) {
    layers[i].family = single.layers[i].family;
    layers[i].kernel = single.layers[i].kernel + ", image by image";
    layers[i].candidates = single.layers[i].candidates;
  }
  return layers;
}

// Names a cut: of the same networks, from the same kernels. Steps without weights run in one layout
// or another of equal cost.
std::string cut_key(const PlannedNetwork& single, const PlannedNetwork& whole) {
  std::string text;
  for (const PlannedNetwork* planned : {&single, &whole}) {
    for (const LayerPlan& layer : planned->layers) {
      text += layer.name + " " + to_string(layer.output_shape) + " ";
      text += (layer.macs > 0 ? layer.kernel : "") + "\n";
    }
  }
  return "cut f32 batch " + std::to_string(whole.made_from.program.batch) + " " + short_key(text);
}

PlannedNetwork cut_at(std::size_t cut, const PlannedNetwork& single, PlannedNetwork whole,
                      int threads) {
  if (cut == 0) return whole;
  PlannedNetwork planned;
  planned.network = std::make_unique<SplitNetwork>(single.made_from, whole.made_from, cut, threads);
  planned.layers = split_layers(single, whole, cut);
  return planned;
}

// The fastest cut, measured; its place is the slot of the one kernel in `kernels`.
Timing time_cuts(const PlannedNetwork& single, PlannedNetwork& whole, ThreadPool& pool) {
  const std::size_t all = whole.layers.size(), cut = measured_cut(single, whole, pool);
  std::vector<std::size_t> cuts = {0, all};
  if (cut != 0) cuts.push_back(cut);
  std::vector<std::unique_ptr<RunnableNetwork>> networks;
  networks.push_back(std::move(whole.network));
  for (std::size_t i = 1; i < cuts.size(); ++i) {
    networks.push_back(
        std::make_unique<SplitNetwork>(single.made_from, whole.made_from, cuts[i], pool.threads()));
  }
  const std::vector<Timing> timings = time_networks(networks, pool);
  whole.network = std::move(networks[0]);
  const std::size_t best = fastest_of(timings);
  Timing timing = timings[best];
  timing.kernels = {{static_cast<int>(cuts[best]), "cut"}};
  return timing;
}

bool is_cut(std::size_t cut, const PlannedNetwork& single, const PlannedNetwork& whole) {
  const std::vector<std::size_t> cuts = possible_cuts(single.made_from, whole.made_from);
  return cut == 0 || cut == whole.layers.size() || std::ranges::binary_search(cuts, cut);
}

}  // namespace

PlannedNetwork plan_split_network(const DeployedModel& model, const SessionOptions& options,
                                  Isa isa, ThreadPool& pool) {
  PlannedNetwork whole = plan_network(model, options, isa, pool);
  const bool may_split = options.choice == KernelChoice::measured && !options.is_survey &&
                         options.batch >= kImagesPerThread * pool.threads();
  if (!may_split) return whole;
  SessionOptions single_options = options;
  single_options.batch = 1;
  single_options.threads = 1;
  single_options.progress = nullptr;
  ThreadPool one(1);
  const PlannedNetwork single = plan_network(model, single_options, isa, one, true);

  TimingTable table(options.timings, cpu_timing_place(isa, pool));
  const std::string key = cut_key(single, whole);
  const Timing& known = table.get(key, [&] { return time_cuts(single, whole, pool); });
  std::size_t cut = known.kernels.size() == 1 ? known.kernels[0].slot : 0;
  if (!is_cut(cut, single, whole)) cut = 0;
  TimingCounts counts = whole.timings;
  for (const TimingCounts& more : {single.timings, table.counts()}) {
    counts.measured += more.measured;
    counts.cached += more.cached;
  }
  PlannedNetwork planned = cut_at(cut, single, std::move(whole), pool.threads());
  planned.timings = counts;
  return planned;
}

}  // namespace winnow
