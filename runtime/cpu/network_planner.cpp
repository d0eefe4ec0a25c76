#include "runtime/cpu/network_planner.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>

#include "runtime/cpu/candidate_choice.h"
#include "runtime/cpu/layer_timer.h"
#include "runtime/reference/reference_session.h"

namespace winnow {
namespace {

using Choice = std::vector<std::size_t>;

// A step with the ways to run it; none for steps that are neither conv nor linear.
struct StepCandidates {
  ConvShape shape;
  std::vector<LayerPointer> layers;
  std::vector<double> ms;
};

class Planner {
 public:
  Planner(const DeployedModel& model, const SessionOptions& options, Isa isa, ThreadPool& pool)
      : model_(model), options_(options), isa_(isa), pool_(pool), timer_(pool) {
    program_ = build_program(model, options.batch);
    for (const Step& step : program_.steps) {
      show_progress(steps_.size());
      steps_.push_back(candidates_of(step));
      const bool is_embedding = std::holds_alternative<Embedding>(step.op);
      tables_.push_back(is_embedding ? dense_parameter(model, step.weight) : std::vector<float>{});
    }
  }

  PlannedNetwork plan() {
    // What runs sparse is a rule; which algorithm runs dense is measured like everything else.
    const bool is_measured = options_.choice != KernelChoice::sparse;
    if (is_measured) measure();
    show_progress(2 * steps_.size());
    PlannedNetwork planned;
    planned.network = is_measured ? fastest(suggestions()) : build(Choice(steps_.size(), 0));
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      planned.layers.push_back(describe(i, *planned.network->layers()[i]));
    }
    planned.program = std::move(program_);
    return planned;
  }

 private:
  // Each step is prepared and then measured.
  void show_progress(std::size_t done) const {
    if (options_.progress) options_.progress(done, 2 * program_.steps.size());
  }

  std::optional<ConvWork> work_of(const Step& step) const {
    const Shape& in = program_.values[step.inputs[0]].shape;
    const Shape& out = program_.values[step.output].shape;
    ConvWork work;
    if (const auto* conv = std::get_if<Conv>(&step.op)) {
      work.shape = conv_shape(*conv, in, out);
    } else if (const auto* linear = std::get_if<Linear>(&step.op)) {
      work.shape = linear_shape(*linear, in);
    } else {
      return std::nullopt;
    }
    const auto* csr = std::get_if<CsrWeight>(&model_.weights.at(step.weight));
    work.units =
        csr ? kept_units(*csr) : kept_units(dense_values(model_, step.weight), work.shape.out.c, 1);
    work.bias = dense_parameter(model_, step.bias);
    work.bias.resize(static_cast<std::size_t>(work.shape.out.c));
    work.has_relu = step.has_relu;
    return work;
  }

  StepCandidates candidates_of(const Step& step) const {
    const std::optional<ConvWork> work = work_of(step);
    if (!work) return {};
    CandidateOptions options;
    options.choice = options_.choice;
    options.family = options_.family;
    options.has_mask = std::holds_alternative<CsrWeight>(model_.weights.at(step.weight));
    const Shape& in = program_.values[step.inputs[0]].shape;
    options.can_interleave = std::holds_alternative<Conv>(step.op) || in.size() == 2;
    options.isa = isa_;
    options.threads = pool_.threads();
    return {work->shape, make_candidates(*work, options), {}};
  }

  void measure() {
    for (StepCandidates& step : steps_) {
      show_progress(steps_.size() + static_cast<std::size_t>(&step - steps_.data()));
      if (step.layers.size() < 2) {
        step.ms.assign(step.layers.size(), 0);
        continue;
      }
      double best = std::numeric_limits<double>::infinity();
      for (const LayerPointer& layer : step.layers) {
        step.ms.push_back(timer_.time(*layer, step.shape, best));
        best = std::min(best, step.ms.back());
      }
    }
  }

  std::vector<LayerPointer> layers_of(const Choice& choice) const {
    std::vector<LayerPointer> layers;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      layers.push_back(steps_[i].layers.empty() ? nullptr : steps_[i].layers[choice[i]]);
    }
    return layers;
  }

  std::unique_ptr<CpuNetwork> build(const Choice& choice) const {
    return std::make_unique<CpuNetwork>(program_, layers_of(choice), tables_);
  }

  // Kernels and conversions; the rest costs about the same in every layout.
  double cost_of(const Choice& choice) {
    const LayoutPlan plan = plan_network_layouts(program_, layers_of(choice));
    double ms = 0;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      if (!steps_[i].layers.empty()) ms += steps_[i].ms[choice[i]];
    }
    for (const PlannedConversion& conversion : plan.conversions) {
      const PlannedBuffer& from = plan.buffers[conversion.from];
      const Layout& to = plan.buffers[conversion.to].layout;
      ms += timer_.time(Conversion{extent_of(program_.values[from.value].shape), from.layout, to});
    }
    return ms;
  }

  // The best choice among the candidates that `allows` admits; steps without any keep them all.
  template <typename Allows>
  Choice best_of(Allows allows) {
    std::vector<std::vector<std::size_t>> admitted;
    for (const StepCandidates& step : steps_) {
      std::vector<std::size_t> indices;
      for (std::size_t c = 0; c < step.layers.size(); ++c) {
        if (allows(*step.layers[c])) indices.push_back(c);
      }
      if (indices.empty()) {
        for (std::size_t c = 0; c < step.layers.size(); ++c) indices.push_back(c);
      }
      admitted.push_back(indices);
    }
    return search(admitted);
  }

  Choice search(const std::vector<std::vector<std::size_t>>& admitted) {
    const auto real = [&](const Choice& positions) {
      Choice choice(positions.size());
      for (std::size_t i = 0; i < choice.size(); ++i) {
        if (!admitted[i].empty()) choice[i] = admitted[i][positions[i]];
      }
      return choice;
    };
    std::vector<std::size_t> counts;
    for (const auto& indices : admitted) counts.push_back(indices.size());
    return real(choose_candidates(counts, starts(admitted), [&](const Choice& positions) {
      return cost_of(real(positions));
    }));
  }

  // Each step's fastest candidate; and for each layout the fastest that write it.
  std::vector<Choice> starts(const std::vector<std::vector<std::size_t>>& admitted) const {
    std::vector<Layout> layouts;
    for (const StepCandidates& step : steps_) {
      for (const LayerPointer& layer : step.layers) {
        const Layout& layout = layer->output_layout;
        if (std::find(layouts.begin(), layouts.end(), layout) == layouts.end()) {
          layouts.push_back(layout);
        }
      }
    }
    std::vector<Choice> result = {start(admitted, std::nullopt)};
    for (const Layout& layout : layouts) result.push_back(start(admitted, layout));
    return result;
  }

  Choice start(const std::vector<std::vector<std::size_t>>& admitted,
               const std::optional<Layout>& wanted) const {
    Choice positions(steps_.size(), 0);
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      double lowest = std::numeric_limits<double>::infinity();
      bool is_wanted = false;
      for (std::size_t p = 0; p < admitted[i].size(); ++p) {
        const std::size_t c = admitted[i][p];
        const bool fits = wanted && steps_[i].layers[c]->output_layout == *wanted;
        if (fits < is_wanted || (fits == is_wanted && steps_[i].ms[c] >= lowest)) continue;
        positions[i] = p;
        lowest = steps_[i].ms[c];
        is_wanted = fits;
      }
    }
    return positions;
  }

  // The best by the measurements of single layers; the same without libraries' own threads, which
  // disturb ours; and the best all-dense network.
  std::set<Choice> suggestions() {
    std::set<Choice> choices = {best_of([](const CpuLayer&) { return true; })};
    if (options_.choice == KernelChoice::measured) {
      choices.insert(best_of([](const CpuLayer& layer) { return layer.family == "dense"; }));
    }
    choices.insert(best_of([](const CpuLayer& layer) { return !layer.uses_own_threads; }));
    return choices;
  }

  std::unique_ptr<CpuNetwork> fastest(const std::set<Choice>& choices) {
    if (choices.size() == 1) return build(*choices.begin());
    constexpr int kRounds = 3, kRepeats = 10;
    constexpr double kBudgetMs = 60;
    std::vector<std::unique_ptr<CpuNetwork>> networks;
    for (const Choice& choice : choices) {
      networks.push_back(build(choice));
      std::fill(networks.back()->input().begin(), networks.back()->input().end(), 0.5f);
    }
    // They take turns, so that what else the machine does hits all alike.
    std::vector<double> best(networks.size(), std::numeric_limits<double>::infinity());
    for (int round = 0; round < kRounds; ++round) {
      for (std::size_t i = 0; i < networks.size(); ++i) {
        const std::vector<double> times =
            time_runs(kRepeats, kBudgetMs, [&] { networks[i]->run(pool_); });
        best[i] = std::min(best[i], median_of(times));
      }
    }
    const auto lowest = std::min_element(best.begin(), best.end());
    return std::move(networks[static_cast<std::size_t>(lowest - best.begin())]);
  }

  LayerPlan describe(std::size_t index, const CpuLayer& layer) const {
    LayerPlan plan = describe_step(model_, program_, program_.steps[index]);
    plan.family = layer.family;
    plan.kernel = layer.kernel;
    const StepCandidates& step = steps_[index];
    if (step.layers.size() < 2 || step.ms.empty()) return plan;
    for (std::size_t c = 0; c < step.layers.size(); ++c) {
      plan.candidates.push_back({step.layers[c]->family, step.layers[c]->kernel, step.ms[c]});
    }
    return plan;
  }

  const DeployedModel& model_;
  const SessionOptions& options_;
  const Isa isa_;
  ThreadPool& pool_;
  LayerTimer timer_;
  Program program_;
  std::vector<StepCandidates> steps_;
  std::vector<std::vector<float>> tables_;
};

}  // namespace

PlannedNetwork plan_network(const DeployedModel& model, const SessionOptions& options, Isa isa,
                            ThreadPool& pool) {
  return Planner(model, options, isa, pool).plan();
}

}  // namespace winnow
