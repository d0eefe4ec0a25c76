#include "runtime/cpu/network_planner.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "runtime/base/error.h"
#include "runtime/base/median.h"
#include "runtime/cpu/jit/jit_conv.h"
#include "runtime/cpu/layer_timer.h"
#include "runtime/cpu/step_candidates.h"
#include "runtime/plan/describe.h"
#include "runtime/plan/step_weights.h"

namespace winnow {
namespace {

using Admits = bool (*)(const CpuLayer&);

class Planner {
 public:
  Planner(const DeployedModel& model, const SessionOptions& options, Isa isa, ThreadPool& pool,
          bool is_shared)
      : is_shared_(is_shared),
        model_(model),
        options_(options),
        isa_(isa),
        pool_(pool),
        timer_(pool),
        // What runs sparse is a rule; which algorithm runs dense is measured like everything else.
        is_measured_(options.choice != KernelChoice::sparse),
        program_(build_program(model, options.batch)),
        fused_(fused_adds()),
        candidates_(program_candidates(program_, weighted_layers(), fused_)),
        ms_(program_.steps.size()) {
    for (const Step& step : program_.steps) {
      const bool is_embedding = std::holds_alternative<Embedding>(step.op);
      tables_.push_back(dense_floats(is_embedding ? weights_of(model, step).weight : nullptr));
    }
    for (std::size_t i = 0; i < ms_.size(); ++i) {
      ms_[i] = times_of(i);
      show_progress(ms_.size() + i + 1);
    }
    describe_problem();
  }

  PlannedNetwork plan() {
    const std::vector<Choice> choices = suggestions();
    std::vector<std::unique_ptr<RunnableNetwork>> networks;
    for (const Choice& choice : choices) {
      networks.push_back(std::make_unique<CpuNetwork>(program_, plan_of(choice), tables_));
    }
    const std::size_t best = networks.size() == 1 ? 0 : fastest_of(networks, pool_);
    PlannedNetwork planned{
        std::move(networks[best]), {}, {program_, plan_of(choices[best]), tables_}};
    const auto& network = static_cast<const CpuNetwork&>(*planned.network);
    for (std::size_t i = 0; i < program_.steps.size(); ++i) {
      planned.layers.push_back(describe(i, *network.layers()[i]));
    }
    return planned;
  }

 private:
  // Each step is prepared and then measured.
  void show_progress(std::size_t done) const {
    if (options_.progress) options_.progress(done, 2 * program_.steps.size());
  }

  ConvWork work_of(const Step& step) const {
    const StepWeights weights = weights_of(model_, step);
    ConvWork work;
    work.shape = work_shape(step);
    work.blocks = weights.sparse() ? block_csr(*weights.sparse())
                                   : block_csr(dense_floats(weights.weight), work.shape.out.c, 1);
    work.bias = dense_floats(weights.bias);
    work.bias.resize(static_cast<std::size_t>(work.shape.out.c));
    work.has_relu = step.has_relu;
    return work;
  }

  CandidateOptions candidate_options(const Step& step) const {
    CandidateOptions options;
    options.choice = options_.choice;
    options.family = options_.family;
    options.has_mask = weights_of(model_, step).sparse() != nullptr;
    const Shape& in = program_.values[step.inputs[0]].shape;
    options.can_interleave = std::holds_alternative<Conv>(step.op) || in.size() == 2;
    options.is_shared = is_shared_;
    options.is_first = step.inputs[0] == program_.input;
    options.isa = isa_;
    options.threads = pool_.threads();
    return options;
  }

  std::vector<FusedAdd> fused_adds() const {
    const bool wanted =
        options_.family.empty() ? options_.choice != KernelChoice::dense : options_.family == "jit";
    std::vector<FusedAdd> fused;
    if (!wanted) return fused;
    for (FusedAdd add : fusible_adds(program_)) {
      const Step& step = program_.steps[add.conv];
      ConvWork work = work_of(step);
      const CandidateOptions options = candidate_options(step);
      if (!options.has_mask || !may_generate(work, options)) continue;
      work.has_relu = program_.steps[add.add].has_relu;
      add.layer = make_jit_conv(work, {.threads = pool_.threads(), .has_addend = true});
      add.deferred = make_deferred_layer(add.layer->family, program_.steps[add.add]);
      fused.push_back(std::move(add));
    }
    return fused;
  }

  // [steps] empty for those without weights; where nothing is measured the preferred one only.
  std::vector<std::vector<LayerPointer>> weighted_layers() const {
    std::vector<std::vector<LayerPointer>> layers(program_.steps.size());
    for (std::size_t i = 0; i < layers.size(); ++i) {
      const Step& step = program_.steps[i];
      if (!is_weighted(step)) continue;
      layers[i] = make_candidates(work_of(step), candidate_options(step));
      show_progress(i + 1);
      if (layers[i].empty()) {
        fail(ErrorCode::usage, "layer '", step.name, "': the kernel family '", options_.family,
             "' cannot run it on this machine");
      }
      if (!is_measured_) layers[i].resize(1);
    }
    return layers;
  }

  // Pools and additions take a fair part of a network's time, and not the same in every layout.
  std::vector<double> times_of_pointwise(std::size_t index) {
    const Step& step = program_.steps[index];
    const ConvShape shape{extents_of(program_.values[step.inputs[0]].shape),
                          extents_of(program_.values[step.output].shape)};
    const std::string key = step_key(model_, program_, step);
    std::vector<double> ms;
    for (const CpuStepPlan& way : candidates_.steps[index]) {
      if (!is_measured_) {
        ms.push_back(way.layer ? 0 : 0.5);  // less than a conversion
      } else if (!way.layer) {
        const auto layer = make_pointwise_layer(pointwise_step(program_, step, {}), way.layout);
        ms.push_back(timer_.time(*layer, shape, key, kImpossible));
      } else {
        const auto fused = std::ranges::find(fused_, way.layer, &FusedAdd::layer);
        const Step& conv = program_.steps[fused->conv];
        ms.push_back(timer_.time(*way.layer, work_shape(conv),
                                 key + " " + step_key(model_, program_, conv), kImpossible));
      }
    }
    return ms;
  }

  std::vector<double> times_of(std::size_t index) {
    const std::vector<CpuStepPlan>& ways = candidates_.steps[index];
    std::vector<double> ms(ways.size(), 0);
    if (ways.size() < 2) return ms;
    const Op& op = program_.steps[index].op;
    if (std::holds_alternative<Add>(op) || std::holds_alternative<Pool>(op)) {
      return times_of_pointwise(index);
    }
    if (!is_weighted(program_.steps[index])) return ms;
    const ConvShape shape = work_shape(program_.steps[index]);
    const std::string key = step_key(model_, program_, program_.steps[index]);
    double best = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < ways.size(); ++i) {
      if (ways[i].layer->is_deferred) continue;
      ms[i] = timer_.time(*ways[i].layer, shape, key, best);
      best = std::min(best, ms[i]);
    }
    return ms;
  }

  ConvShape work_shape(const Step& step) const {
    const Shape& in = program_.values[step.inputs[0]].shape;
    const auto* conv = std::get_if<Conv>(&step.op);
    return conv ? conv_shape(*conv, in, program_.values[step.output].shape)
                : linear_shape(std::get<Linear>(step.op), in);
  }

  // All candidates as numbers. Where nothing is measured, every conversion counts the same.
  void describe_problem() {
    problem_.input = program_.input;
    problem_.output = program_.output;
    for (std::size_t i = 0; i < program_.steps.size(); ++i) {
      const Step& step = program_.steps[i];
      problem_.steps.push_back({step.inputs, step.output, {}});
      for (std::size_t c = 0; c < candidates_.steps[i].size(); ++c) {
        const CpuStepPlan& way = candidates_.steps[i][c];
        problem_.steps[i].options.push_back({way.reads, way.writes, ms_[i][c]});
      }
    }
    std::vector<std::size_t> formats;
    for (const auto& layouts : candidates_.layouts) formats.push_back(layouts.size());
    time_conversions(
        formats,
        [&](std::size_t value, std::size_t from, std::size_t to) {
          const std::vector<Layout>& layouts = candidates_.layouts[value];
          if (layouts[from] == kDeferredLayout || layouts[to] == kDeferredLayout)
            return kImpossible;
          if (!is_measured_) return 1.0;
          const Extents extent = extents_of(program_.values[value].shape);
          return timer_.time({extent, layouts[from], layouts[to]});
        },
        problem_);
  }

  // The best choice among the layers that `admits` lets through; steps without any keep them all.
  Choice best_of(Admits admits) const {
    ChoiceProblem problem = problem_;
    for (std::size_t i = 0; i < problem.steps.size(); ++i) {
      const std::vector<CpuStepPlan>& ways = candidates_.steps[i];
      const auto is_admitted = [&](const CpuStepPlan& way) {
        return !way.layer || admits(*way.layer);
      };
      if (std::ranges::none_of(ways, is_admitted)) continue;
      for (std::size_t c = 0; c < ways.size(); ++c) {
        if (!is_admitted(ways[c])) problem.steps[i].options[c].ms = kImpossible;
      }
    }
    return choose_kernels(problem);
  }

  // The best all-dense network, first (fastest_network); the best by the measurements of single
  // layers; and the same without libraries' own threads, which disturb ours.
  std::vector<Choice> suggestions() const {
    std::vector<Choice> choices;
    const auto add = [&](Admits admits) {
      Choice choice = best_of(admits);
      const auto is_same = [&](const Choice& other) { return other.option == choice.option; };
      if (std::ranges::none_of(choices, is_same)) choices.push_back(std::move(choice));
    };
    const Admits without_own_threads = [](const CpuLayer& layer) {
      return !layer.uses_own_threads;
    };
    if (is_shared_) {
      add(without_own_threads);
      return choices;
    }
    if (options_.choice == KernelChoice::measured) {
      add([](const CpuLayer& layer) { return layer.family == "dense"; });
    }
    add([](const CpuLayer&) { return true; });
    if (is_measured_) add(without_own_threads);
    return choices;
  }

  CpuPlan plan_of(const Choice& choice) const {
    CpuPlan plan{candidates_.layouts, {}, choice.conversions};
    for (std::size_t i = 0; i < choice.option.size(); ++i) {
      plan.steps.push_back(candidates_.steps[i][choice.option[i]]);
    }
    return plan;
  }

  LayerPlan describe(std::size_t index, const CpuLayer& layer) const {
    LayerPlan plan = describe_step(model_, program_, program_.steps[index]);
    plan.family = layer.family;
    plan.kernel = layer.kernel;
    const std::vector<CpuStepPlan>& ways = candidates_.steps[index];
    if (!is_measured_ || ways.size() < 2 || !is_weighted(program_.steps[index])) return plan;
    for (std::size_t c = 0; c < ways.size(); ++c) {
      plan.candidates.push_back({ways[c].layer->family, ways[c].layer->kernel, ms_[index][c]});
    }
    return plan;
  }

  const bool is_shared_;
  const DeployedModel& model_;
  const SessionOptions& options_;
  const Isa isa_;
  ThreadPool& pool_;
  LayerTimer timer_;
  const bool is_measured_;
  Program program_;
  std::vector<FusedAdd> fused_;
  ProgramCandidates candidates_;
  std::vector<std::vector<double>> ms_;  // by step, by candidate
  ChoiceProblem problem_;
  std::vector<std::vector<float>> tables_;
};

}  // namespace

PlannedNetwork plan_network(const DeployedModel& model, const SessionOptions& options, Isa isa,
                            ThreadPool& pool, bool is_shared) {
  return Planner(model, options, isa, pool, is_shared).plan();
}

std::size_t fastest_of(const std::vector<std::unique_ptr<RunnableNetwork>>& networks,
                       ThreadPool& pool) {
  constexpr int kRounds = 3, kRepeats = 10;
  constexpr double kBudgetMs = 60;
  for (const auto& network : networks) std::ranges::fill(network->input(), 0.5f);
  // They take turns, so that what else the machine does hits all alike.
  std::vector<double> best(networks.size(), std::numeric_limits<double>::infinity());
  for (int round = 0; round < kRounds; ++round) {
    for (std::size_t i = 0; i < networks.size(); ++i) {
      const std::vector<double> times =
          time_runs(kRepeats, kBudgetMs, [&] { networks[i]->run(pool); });
      best[i] = std::min(best[i], median(times));
    }
  }
  return fastest_network(best);
}

}  // namespace winnow
