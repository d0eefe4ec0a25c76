#include "runtime/cpu/network_planner.h"

#include <algorithm>
#include <optional>
#include <ranges>
#include <string>

#include "runtime/base/error.h"
#include "runtime/base/processor.h"
#include "runtime/cpu/dense_layer.h"
#include "runtime/cpu/jit/jit_conv.h"
#include "runtime/cpu/layer_timer.h"
#include "runtime/cpu/network_timing.h"
#include "runtime/cpu/peak_rate.h"
#include "runtime/cpu/step_candidates.h"
#include "runtime/plan/describe.h"
#include "runtime/plan/step_weights.h"

namespace winnow {
namespace {

using Admits = bool (*)(const CpuLayer&);

using StepLayers = std::vector<std::vector<LayerPointer>>;

// What the choice of kernels counts with.
double choice_ms(const Timing& timing) {
  return timing.rejected.empty() ? timing.median_ms : kImpossible;
}

bool is_dense(const CpuLayer& layer) {
  return layer.family == "dense";
}

class Planner {
 public:
  Planner(const DeployedModel& model, const SessionOptions& options, Isa isa, ThreadPool& pool,
          bool is_shared)
      : is_shared_(is_shared),
        model_(model),
        options_(options),
        isa_(isa),
        pool_(pool),
        table_(options.timings, cpu_timing_place(isa, pool)),
        timer_(pool, table_),
        // What runs sparse is a rule; which algorithm runs dense is measured like everything else.
        is_measured_(options.choice != KernelChoice::sparse),
        program_(build_program(model, options.batch)),
        keys_(step_keys()),
        known_(known_choice()),
        timings_(program_.steps.size()) {
    find_candidates();
    for (const Step& step : program_.steps) {
      const bool is_embedding = std::holds_alternative<Embedding>(step.op);
      tables_.push_back(dense_floats(is_embedding ? weights_of(model, step).weight : nullptr));
    }
    for (std::size_t i = 0; i < timings_.size(); ++i) {
      timings_[i] = times_of(i);
      show_progress(timings_.size() + i + 1);
    }
    describe_problem();
  }

  PlannedNetwork plan() {
    const std::vector<Choice> choices = suggestions();
    const Choice& choice = choices[choices.size() == 1 ? 0 : fastest_of_choices(choices)];
    keep_choice(choice);
    auto network = std::make_unique<CpuNetwork>(program_, plan_of(choice), tables_);
    PlannedNetwork planned;
    planned.made_from = {program_, plan_of(choice), tables_};
    for (std::size_t i = 0; i < program_.steps.size(); ++i) {
      planned.layers.push_back(describe(i, *network->layers()[i]));
    }
    planned.network = std::move(network);
    planned.timings = table_.counts();
    return planned;
  }

 private:
  // Each step is prepared and then measured.
  void show_progress(std::size_t done) const {
    if (options_.progress) options_.progress(done, 2 * program_.steps.size());
  }

  std::vector<std::string> step_keys() const {
    std::vector<std::string> keys;
    if (!is_measured_) return keys;
    for (const Step& step : program_.steps) keys.push_back(step_key(model_, program_, step));
    return keys;
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

  CandidateOptions candidate_options(std::size_t index) const {
    const Step& step = program_.steps[index];
    CandidateOptions options;
    options.choice = options_.choice;
    options.family = options_.family;
    options.has_mask = weights_of(model_, step).sparse() != nullptr;
    if (options_.is_survey && options.has_mask) options.choice = KernelChoice::sparse;
    const Shape& in = program_.values[step.inputs[0]].shape;
    options.can_interleave = std::holds_alternative<Conv>(step.op) || in.size() == 2;
    options.is_shared = is_shared_;
    options.is_first = step.inputs[0] == program_.input;
    options.isa = isa_;
    options.threads = pool_.threads();
    if (known_) options.only_slot = (*known_)[index].slot;
    return options;
  }

  // Where the choice is known, those that were chosen.
  std::vector<FusedStep> fused_steps() const {
    const bool wanted =
        options_.family.empty() ? options_.choice != KernelChoice::dense : options_.family == "jit";
    std::vector<FusedStep> fused;
    if (!wanted || options_.is_survey) return fused;
    for (FusedStep both : fusible_steps(program_)) {
      both.deferred = make_deferred_layer("jit", program_.steps[both.reader]);
      if (known_ && (*known_)[both.conv].kernel != both.deferred->kernel) continue;
      both.layer = fused_layer(both);
      if (!both.layer) continue;
      if (known_ && (*known_)[both.reader].kernel != both.layer->kernel) continue;
      fused.push_back(std::move(both));
    }
    return fused;
  }

  // Null where generated code cannot run both.
  LayerPointer fused_layer(const FusedStep& both) const {
    const Step& reader = program_.steps[both.reader];
    ConvWork work = work_of(program_.steps[both.conv]);
    const CandidateOptions options = candidate_options(both.conv);
    if (!options.has_mask || !may_generate(work, options)) return nullptr;
    JitOptions jit{.threads = pool_.threads()};
    if (const auto* pool = std::get_if<Pool>(&reader.op)) {
      if (options.is_first || !jit_conv_pools(work, *pool)) return nullptr;
      jit.pool = *pool;
    } else {
      work.has_relu = reader.has_relu;
      jit.has_addend = true;
    }
    return make_jit_conv(work, jit);
  }

  void find_candidates() {
    std::optional<StepLayers> layers;
    while (!layers) {
      fused_ = fused_steps();
      layers = weighted_layers();
      if (!layers) known_ = nullptr;  // the cache means other candidates than these
    }
    candidates_ = program_candidates(program_, *layers, fused_);
  }

  // Dense layers are made after the sparse ones have been timed, and only those that may win:
  // putting all weights into their orders and running them once takes longer than all else.
  std::vector<LayerPointer> make_layers(std::size_t index) {
    const ConvWork work = work_of(program_.steps[index]);
    CandidateOptions options = candidate_options(index);
    if (!is_contested(options)) return make_candidates(work, options);
    options.kind = CandidateKind::sparse;
    std::vector<LayerPointer> layers = make_candidates(work, options);
    double best = kImpossible;
    for (const Timing& timing : times_of_layers(index, layers)) {
      best = std::min(best, choice_ms(timing));
    }
    options.kind = CandidateKind::dense;
    options.is_worth_making = [&](double multiply_adds) {
      return may_win(least_ms(multiply_adds), best);
    };
    std::ranges::move(make_candidates(work, options), std::back_inserter(layers));
    return layers;
  }

  // Whether sparse layers are timed before dense ones are made.
  bool is_contested(const CandidateOptions& options) const {
    return options.choice == KernelChoice::measured && options.family.empty() && options.has_mask &&
           !known_ && knows_peak_rate();
  }

  // Of a layer that does so many.
  double least_ms(double multiply_adds) {
    const Timing& timing = table_.get("multiply-adds", [&] { return time_multiply_adds(pool_); });
    return timing.min_ms * multiply_adds / kTimedMultiplyAdds;
  }

  // [steps] empty for those without weights; where nothing is measured the preferred one only, and
  // where the choice is known that one, or none if it is deferred. Nothing if the choice that is
  // known is not to be had.
  std::optional<StepLayers> weighted_layers() {
    StepLayers layers(program_.steps.size());
    for (std::size_t i = 0; i < layers.size(); ++i) {
      const Step& step = program_.steps[i];
      if (!is_weighted(step)) continue;
      if (known_ && std::ranges::find(fused_, i, &FusedStep::conv) != fused_.end()) continue;
      layers[i] = make_layers(i);
      show_progress(i + 1);
      if (known_ && !is_known(i, layers[i])) return std::nullopt;
      if (layers[i].empty()) {
        fail(ErrorCode::usage, "layer '", step.name, "': the kernel family '", options_.family,
             "' cannot run it on this machine");
      }
      if (!is_measured_) layers[i].resize(1);
    }
    return layers;
  }

  // Whether the one candidate is what was chosen for the step.
  bool is_known(std::size_t index, const std::vector<LayerPointer>& layers) const {
    return layers.size() == 1 && layers[0]->kernel == (*known_)[index].kernel;
  }

  std::string choice_key() const {
    std::string text;
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      text += keys_[i] + "\n";
      for (const std::size_t input : program_.steps[i].inputs) text += std::to_string(input) + " ";
    }
    const char* const choice = options_.choice == KernelChoice::dense ? "dense" : "measured";
    return "choice f32 batch " + std::to_string(options_.batch) + " " + choice + " " +
           options_.family + (is_shared_ ? " shared " : " ") + short_key(text);
  }

  // The cache's, if it has a kernel for every step.
  const std::vector<ChosenKernel>* known_choice() {
    if (!is_measured_ || options_.is_survey) return nullptr;
    const std::vector<ChosenKernel>* known = table_.find_choice(choice_key());
    return known && known->size() == program_.steps.size() ? known : nullptr;
  }

  void keep_choice(const Choice& choice) {
    if (!is_measured_ || options_.is_survey || known_) return;
    std::vector<ChosenKernel> kernels;
    for (std::size_t i = 0; i < choice.option.size(); ++i) {
      const LayerPointer& layer = candidates_.steps[i][choice.option[i]].layer;
      kernels.push_back(layer ? ChosenKernel{layer->slot, layer->kernel} : ChosenKernel{});
    }
    table_.keep_choice(choice_key(), std::move(kernels));
  }

  // Where there is one way only, its time is nobody's concern but a survey's, unless it was asked
  // for already.
  bool is_timed(std::size_t index) const {
    if (!is_weighted(program_.steps[index])) return false;
    return candidates_.steps[index].size() > 1 || options_.is_survey ||
           is_contested(candidate_options(index));
  }

  std::vector<Timing> times_of(std::size_t index) {
    if (is_timed(index)) return times_of_weighted(index);
    const std::vector<CpuStepPlan>& ways = candidates_.steps[index];
    const Op& op = program_.steps[index].op;
    const bool is_pool_or_add = std::holds_alternative<Add>(op) || std::holds_alternative<Pool>(op);
    if (is_pool_or_add && ways.size() > 1) return times_of_pointwise(index);
    return std::vector<Timing>(ways.size());
  }

  std::vector<Timing> times_of_weighted(std::size_t index) {
    const std::vector<CpuStepPlan>& ways = candidates_.steps[index];
    if (!is_measured_) return std::vector<Timing>(ways.size());
    std::vector<LayerPointer> layers;
    for (const CpuStepPlan& way : ways) layers.push_back(way.layer);
    std::vector<Timing> timings = times_of_layers(index, layers);
    const bool is_refused =
        std::ranges::all_of(timings, [](const Timing& one) { return !one.rejected.empty(); });
    if (is_refused) refuse_all(index, timings);
    return timings;
  }

  // Deferred ones take no time.
  std::vector<Timing> times_of_layers(std::size_t index, const std::vector<LayerPointer>& layers) {
    const Step& step = program_.steps[index];
    const ConvShape shape = work_shape(step);
    std::optional<LayerCheck> check;
    const auto get_check = [&]() -> const LayerCheck& {
      if (!check) check.emplace(model_, program_, step, Precision::f32, false);
      return *check;
    };
    std::vector<Timing> timings(layers.size());
    double best = kImpossible;
    for (std::size_t i = 0; i < layers.size(); ++i) {
      if (layers[i]->is_deferred) continue;
      timings[i] = timer_.time({*layers[i], shape, keys_[index], get_check}, best);
      best = std::min(best, choice_ms(timings[i]));
    }
    return timings;
  }

  // Pools and additions take a fair part of a network's time, and not the same in every layout.
  std::vector<Timing> times_of_pointwise(std::size_t index) {
    const Step& step = program_.steps[index];
    const ConvShape shape{extents_of(program_.values[step.inputs[0]].shape),
                          extents_of(program_.values[step.output].shape)};
    std::vector<Timing> timings;
    for (const CpuStepPlan& way : candidates_.steps[index]) {
      if (!is_measured_) {
        timings.emplace_back().median_ms = way.layer ? 0 : 0.5;  // less than a conversion
      } else if (!way.layer) {
        const auto layer = make_pointwise_layer(pointwise_step(program_, step, {}), way.layout);
        timings.push_back(timer_.time({*layer, shape, keys_[index], {}}, kImpossible));
      } else {
        const std::size_t conv = std::ranges::find(fused_, way.layer, &FusedStep::layer)->conv;
        const std::string key = keys_[index] + " " + keys_[conv];
        const ConvShape both{work_shape(program_.steps[conv]).in, shape.out};
        timings.push_back(timer_.time({*way.layer, both, key, {}}, kImpossible));
      }
    }
    return timings;
  }

  [[noreturn]] void refuse_all(std::size_t index, const std::vector<Timing>& timings) const {
    std::string reasons;
    for (std::size_t i = 0; i < timings.size(); ++i) {
      reasons += (i == 0 ? "" : "; ") + candidates_.steps[index][i].layer->kernel + " " +
                 timings[i].rejected;
    }
    fail(ErrorCode::device, model_.graph.name, ": node '", program_.steps[index].name,
         "': no kernel computes it rightly (", reasons, ")");
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
        problem_.steps[i].options.push_back({way.reads, way.writes, choice_ms(timings_[i][c])});
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
      const auto is_admitted = [&](std::size_t c) {
        return (!ways[c].layer || admits(*ways[c].layer)) && timings_[i][c].rejected.empty();
      };
      if (std::ranges::none_of(std::views::iota(std::size_t{0}, ways.size()), is_admitted))
        continue;
      for (std::size_t c = 0; c < ways.size(); ++c) {
        if (!is_admitted(c)) problem.steps[i].options[c].ms = kImpossible;
      }
    }
    return choose_kernels(problem);
  }

  // Whether no layer has lost its dense kernels to make_layers().
  bool may_be_dense() const {
    for (std::size_t i = 0; i < program_.steps.size(); ++i) {
      const auto way_is_dense = [](const CpuStepPlan& way) { return is_dense(*way.layer); };
      if (is_weighted(program_.steps[i]) &&
          std::ranges::none_of(candidates_.steps[i], way_is_dense)) {
        return false;
      }
    }
    return true;
  }

  // The best all-dense network, first (fastest_network), if there is one; the best by the
  // measurements of single layers; and the same without libraries' own threads, which disturb ours.
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
    if (is_shared_ || known_) {
      add(is_shared_ ? without_own_threads : [](const CpuLayer&) { return true; });
      return choices;
    }
    if (options_.choice == KernelChoice::measured && !options_.is_survey && may_be_dense()) {
      add(is_dense);
    }
    add([](const CpuLayer&) { return true; });
    if (is_measured_ && !options_.is_survey) add(without_own_threads);
    drop_hopeless(choices);
    return choices;
  }

  CpuPlan plan_of(const Choice& choice) const {
    CpuPlan plan{candidates_.layouts, {}, choice.conversions};
    for (std::size_t i = 0; i < choice.option.size(); ++i) {
      plan.steps.push_back(candidates_.steps[i][choice.option[i]]);
    }
    return plan;
  }

  // Names a network: equal ones take the same time.
  std::string network_key(const Choice& choice) const {
    std::string text;
    for (std::size_t i = 0; i < choice.option.size(); ++i) {
      const CpuStepPlan& way = candidates_.steps[i][choice.option[i]];
      text += keys_[i] + " | ";
      text += (way.layer ? way.layer->kernel : to_string(way.layout)) + "\n";
      for (const std::size_t input : program_.steps[i].inputs) text += std::to_string(input) + " ";
    }
    for (const Conversion& c : choice.conversions) {
      const std::vector<Layout>& layouts = candidates_.layouts[c.value];
      text += std::to_string(c.value) + " " + to_string(layouts[c.from]) + " " +
              to_string(layouts[c.to]) + "\n";
    }
    return "network f32 batch " + std::to_string(options_.batch) + " " + short_key(text);
  }

  std::size_t fastest_of_choices(const std::vector<Choice>& choices) {
    std::vector<std::string> keys;
    for (const Choice& choice : choices) keys.push_back(network_key(choice));
    return fastest_of(table_.get_together(keys, [&] {
      std::vector<std::unique_ptr<RunnableNetwork>> networks;
      for (const Choice& choice : choices) {
        networks.push_back(std::make_unique<CpuNetwork>(program_, plan_of(choice), tables_));
      }
      return time_networks(networks, pool_);
    }));
  }

  LayerPlan describe(std::size_t index, const CpuLayer& layer) const {
    LayerPlan plan = describe_step(model_, program_, program_.steps[index]);
    plan.family = layer.family;
    plan.kernel = layer.kernel;
    const std::vector<CpuStepPlan>& ways = candidates_.steps[index];
    if (!is_measured_ || !is_timed(index)) return plan;
    for (std::size_t c = 0; c < ways.size(); ++c) {
      const Timing& timing = timings_[index][c];
      plan.candidates.push_back({ways[c].layer->family, ways[c].layer->kernel, timing.median_ms,
                                 timing.min_ms, timing.cold_ms, timing.rejected});
    }
    sort_by_time(plan.candidates);
    return plan;
  }

  const bool is_shared_;
  const DeployedModel& model_;
  const SessionOptions& options_;
  const Isa isa_;
  ThreadPool& pool_;
  TimingTable table_;
  LayerTimer timer_;
  const bool is_measured_;
  Program program_;
  const std::vector<std::string> keys_;     // by step; empty if nothing is measured
  const std::vector<ChosenKernel>* known_;  // by step: what the cache knows to be chosen, or null
  std::vector<FusedStep> fused_;
  ProgramCandidates candidates_;
  std::vector<std::vector<Timing>> timings_;  // by step, by candidate
  ChoiceProblem problem_;
  std::vector<std::vector<float>> tables_;
};

}  // namespace

PlannedNetwork plan_network(const DeployedModel& model, const SessionOptions& options, Isa isa,
                            ThreadPool& pool, bool is_shared) {
  return Planner(model, options, isa, pool, is_shared).plan();
}

TimingPlace cpu_timing_place(Isa isa, const ThreadPool& pool) {
  const LibraryFacts onednn = onednn_facts();
  return {cpu_device_name(pool.threads(), ", " + std::string(to_string(isa))),
          (onednn.version.empty() ? "no oneDNN" : "oneDNN " + onednn.version) + ", " +
              timing_version()};
}

}  // namespace winnow
