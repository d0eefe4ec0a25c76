#include "runtime/bench/compare.h"

#include <algorithm>
#include <future>

#include "runtime/base/error.h"
#include "runtime/base/random.h"
#include "runtime/base/wall_clock.h"

namespace winnow {
namespace {

constexpr std::uint64_t kInputSeed = 7;

std::vector<float> random_input(const DeployedModel& model, std::int64_t batch) {
  const Shape shape = infer_shapes(model.graph, batch).front();
  const auto& op = std::get<Input>(model.graph.nodes.front().op);
  std::vector<float> input(static_cast<std::size_t>(element_count(shape)));
  Random random(kInputSeed);
  for (float& x : input) x = op.is_tokens ? 0.0f : static_cast<float>(random.normal());
  return input;
}

struct Contestant {
  PlanTiming* timing;
  std::unique_ptr<Session> session;
  std::vector<double> network_ms;
};

// A plan that cannot be made leaves its reason; a device that fails altogether fails all three.
Contestant prepare(const DeployedModel& model, const CompareOptions& options, KernelChoice choice,
                   PlanTiming& timing) {
  SessionOptions session = options.session;
  session.choice = choice;
  session.timings.lists_candidates = true;
  if (choice == KernelChoice::dense) session.family.clear();
  Contestant contestant{&timing, nullptr, {}};
  try {
    contestant.session = make_session(model, options.device, session);
    timing.layers = contestant.session->layers();
    timing.timings = contestant.session->timing_counts();
    timing.networks = contestant.session->network_timings();
  } catch (const Error& error) {
    if (choice == KernelChoice::measured) throw;
    timing.error = error.what();
  }
  return contestant;
}

// The other model, at its best on the same device.
Contestant prepare_other(const CompareOptions& options, PlanTiming& timing) {
  CompareOptions others = options;
  others.session.family.clear();
  return prepare(*options.against, others, KernelChoice::measured, timing);
}

void require_same_input(const DeployedModel& model, const CompareOptions& options) {
  const auto input = [](const DeployedModel& one) { return infer_shapes(one.graph, 1).front(); };
  if (input(*options.against) == input(model)) return;
  fail(ErrorCode::usage, options.against_name, ": of ", to_string(input(*options.against)),
       ", expected the same input as the model's, ", to_string(input(model)));
}

// Dense, sparse and chosen, and the other model if there is one.
std::vector<Contestant> contestants_of(const DeployedModel& model, const CompareOptions& options,
                                       Comparison& result) {
  if (options.against != nullptr) require_same_input(model, options);
  std::vector<Contestant> all;
  all.push_back(prepare(model, options, KernelChoice::dense, result.dense));
  all.push_back(prepare(model, options, KernelChoice::sparse, result.sparse));
  all.push_back(prepare(model, options, KernelChoice::measured, result.chosen));
  if (options.against != nullptr) {
    result.against_name = options.against_name;
    all.push_back(prepare_other(options, result.against.emplace()));
  }
  return all;
}

// Runs `samples` on each session at the same time, in a thread of its own.
void run_together(const std::vector<Session*>& sessions, const SampleStream& samples) {
  std::vector<std::future<void>> runs;
  for (std::size_t i = 1; i < sessions.size(); ++i) {
    runs.push_back(std::async(std::launch::async, [&, i] { sessions[i]->run_all(samples); }));
  }
  sessions[0]->run_all(samples);
  for (std::future<void>& run : runs) run.get();
}

// Batches enough to last a while, of equal samples.
SampleStream copied_samples(const PlanTiming& timing, const std::vector<float>& input,
                            const CompareOptions& options) {
  constexpr double kRoundMs = 200;
  constexpr int kFewestBatches = 4;
  const std::int64_t batch = options.session.batch;
  const double ms = std::max(timing.network_ms.median, 1e-3);
  const int most = std::max(kFewestBatches, options.repeats);
  SampleStream samples;
  samples.samples = batch * std::clamp(static_cast<int>(kRoundMs / ms), kFewestBatches, most);
  samples.batch = batch;
  samples.input_size = static_cast<std::int64_t>(input.size()) / batch;
  samples.output_size = timing.layers.empty()
                            ? samples.input_size
                            : element_count(timing.layers.back().output_shape) / batch;
  samples.read = [&](std::int64_t, std::span<float> to) {
    std::copy_n(input.begin(), to.size(), to.begin());
  };
  samples.write = [](std::int64_t, std::span<const float>) {};
  return samples;
}

// Of a few rounds the best, since copies are sensitive to all else that the machine does.
void time_copies(Contestant& contestant, const std::vector<float>& input,
                 const CompareOptions& options) {
  constexpr int kRounds = 3;
  PlanTiming& timing = *contestant.timing;
  std::vector<std::unique_ptr<Session>> shared;
  std::vector<Session*> sessions = {contestant.session.get()};
  while (static_cast<int>(sessions.size()) < options.streams) {
    shared.push_back(contestant.session->share());
    sessions.push_back(shared.back().get());
  }
  const SampleStream samples = copied_samples(timing, input, options);
  const auto all = static_cast<double>(samples.samples) * options.streams;
  for (int round = 0; round < kRounds; ++round) {
    const double taken = run_ms([&] { run_together(sessions, samples); });
    timing.copied_per_second = std::max(timing.copied_per_second, 1e3 * all / taken);
  }
}

void time_layers(Contestant& contestant, const CompareOptions& options) {
  for (auto& samples : contestant.session->time_layers(options.warm_up, options.layer_repeats)) {
    contestant.timing->layer_ms.push_back(statistics_of(std::move(samples)));
  }
}

}  // namespace

Comparison compare_plans(const DeployedModel& model, const CompareOptions& options) {
  Comparison result;
  result.batch = options.session.batch;
  std::vector<Contestant> contestants = contestants_of(model, options, result);
  result.device = contestants[2].session->device();
  if (options.streams > 1) contestants[2].session->share();  // throws before all is timed

  const std::vector<float> input = random_input(model, result.batch);
  for (Contestant& c : contestants) {
    if (c.session) c.session->set_input(input);
  }
  const int per_round = std::max(1, options.repeats / std::max(1, options.rounds));
  const auto plans = static_cast<std::size_t>(
      std::ranges::count_if(contestants, [](const Contestant& c) { return c.session != nullptr; }));
  const std::size_t all = plans * (static_cast<std::size_t>(options.rounds) + 1);
  std::size_t done = 0;
  const auto count_round = [&] {
    if (options.progress) options.progress(++done, all);
  };
  for (int round = 0; round < options.rounds; ++round) {
    for (Contestant& c : contestants) {
      if (!c.session) continue;
      const auto samples = c.session->time_network(options.warm_up, per_round);
      c.network_ms.insert(c.network_ms.end(), samples.begin(), samples.end());
      count_round();
    }
  }
  for (Contestant& c : contestants) {
    if (!c.session) continue;
    c.timing->network_ms = statistics_of(std::move(c.network_ms));
    time_copies(c, input, options);
    time_layers(c, options);
    count_round();
  }
  return result;
}

}  // namespace winnow
