#include "prune/layer_search.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "prune/evolution/budget/layer_budget.h"
#include "prune/layer_removal.h"
#include "prune/layer_trials.h"
#include "prune/methods/goal_plan.h"
#include "prune/methods/magnitude.h"
#include "prune/prune_program.h"
#include "prune/run/run_training.h"
#include "prune/start_model.h"
#include "prune/timing/time_table.h"
#include "prune/training/torch_trainee.h"
#include "prune/training/trainability.h"
#include "runtime/base/error.h"
#include "runtime/base/file.h"
#include "runtime/base/number_text.h"
#include "runtime/base/suggest.h"
#include "runtime/base/version.h"
#include "runtime/cli/progress.h"
#include "runtime/cli/table.h"

namespace winnow {
namespace {

using Json = nlohmann::ordered_json;

// Of a trial. Masks change in the first iterations, as `prune_until` says; the last ones only
// train.
constexpr std::int64_t kIterations = 4;
constexpr std::int64_t kMaskIntervals = 16;

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ",") + name;
  return text;
}

// What a search must share with one that goes on with it.
std::string settings_text(const RunConfig& config, const LayerSearchOptions& options) {
  return comparable_config(config) + "# search: " + std::string(to_string(options.sets.search)) +
         "\n# trials: " + std::to_string(options.trials) +
         "\n# trial-batches: " + std::to_string(options.batches) +
         "\n# population: " + std::to_string(options.sets.population) +
         "\n# checksum of model.weights: " + std::to_string(checksum_of(config.model.weights)) +
         "\n";
}

EarlierTrials earlier_trials(const LayerSearchOptions& options, const std::string& settings) {
  if (options.resumes) return read_trials(options.file, settings);
  if (!options.file.empty() && !options.overwrites) require_no_trials(options.file);
  return {};
}

class LayerSearcher {
 public:
  LayerSearcher(const RunConfig& config, const LayerSearchOptions& options)
      : config_(with_times(config)),
        options_(options),
        settings_(settings_text(config_, options)),
        earlier_(earlier_trials(options, settings_)),
        given_(read_given_model(config_)),
        data_(load_run_data(config_, options.is_quiet, image_cache(config_), given_)),
        whole_(start_model(config_, given_, data_)),
        layers_(removable_layers(whole_.graph)) {
    options_.sets.seed = config_.evolution.seed;
    options_.sets.most_alone = static_cast<std::size_t>(options.trials / 2);
    if (layers_.empty()) {
      const std::string network = given_ ? in_quotes(config_.model.weights) : "the network";
      const std::string key = given_ ? "model.weights" : "model";
      fail(ErrorCode::usage, config_.place(key), key, ": ", network,
           " has no layer that model.remove_layers can remove");
    }
    // A trial is too short for recording steps to pay.
    config_.train.records_steps = false;
    count_of_whole();
  }

  LayerSearchResult search() {
    LayerSets sets(layers_.size(), options_.sets);
    if (options_.on_begin) options_.on_begin();
    const auto progress = progress_callback("search: trial", options_.is_quiet);
    while (static_cast<std::int64_t>(trials_.size()) < options_.trials) {
      const std::optional<LayerSet> set = sets.next();
      if (!set) break;
      add_trial(names_of(*set));
      sets.add(*set, trials_.back().fitness());
      if (progress) progress(trials_.size(), static_cast<std::size_t>(options_.trials));
    }
    const std::vector<std::string> removed = all_removed(best().removed);
    Json found = json();
    found["remove_layers"] = removed;
    if (!is_time()) found["target_kept"] = config_.evolution.target_kept;
    return {table(removed), found.dump(2)};
  }

 private:
  bool is_time() const { return config_.evolution.budget == Budget::time; }

  // A target sparsity is one of the whole network, whatever a set leaves out.
  void count_of_whole() {
    EvolutionConfig& evolution = config_.evolution;
    if (is_time() || evolution.target_kept > 0) return;
    const TorchTrainee trainee(whole_, data_, trainee_options(config_, {}));
    const LayerBudget budget(evolution, trainee.layers());
    const double kept = budget.cost_at(budget.target_density());
    evolution.target_kept = std::max<std::int64_t>(1, std::llround(kept));
  }

  std::vector<std::string> names_of(const LayerSet& set) const {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < set.size(); ++i) {
      if (set[i]) names.push_back(layers_[i]);
    }
    return names;
  }

  // From the earlier search as far as that went.
  void add_trial(const std::vector<std::string>& removed) {
    if (trials_.size() < earlier_.trials.size()) {
      const LayerTrial& trial = earlier_.trials[trials_.size()];
      if (trial.removed != removed) {
        fail(ErrorCode::bad_file, options_.file, ": trial ", trials_.size() + 1, " is without '",
             joined(trial.removed), "', expected '", joined(removed), "'");
      }
      trials_.push_back(trial);
      return;
    }
    trials_.push_back(trial_of(removed));
    if (!options_.file.empty()) write_file_atomically(options_.file, json().dump(2) + "\n");
  }

  LayerTrial trial_of(const std::vector<std::string>& removed) {
    LayerTrial trial{.removed = removed};
    try {
      Model model = whole_;
      remove_layers(model, trial.removed);
      RunConfig config = config_;
      config.model.removed_layers = all_removed(trial.removed);
      config = with_times(config);  // which layers count
      TorchTrainee trainee(model, data_,
                           trainee_options(config, {.should_stop = options_.should_stop}));
      device_ = trainee.device();
      const LayerBudget budget(config.evolution, trainee.layers());
      if (budget.goal_density() > budget.target_density()) {
        trial.reason =
            std::string(is_time() ? "is too slow" : "keeps too much") + " under its limits";
      } else {
        prune(config, trainee, trial);
      }
    } catch (const Error& error) {  // of the budget: no masks, or none that meet the target
      if (error.code() == ErrorCode::interrupted) tell_of_interrupt();
      if (error.code() != ErrorCode::usage) throw;
      trial.reason = error.what();
    }
    return trial;
  }

  [[noreturn]] void tell_of_interrupt() const {
    const std::string done =
        std::to_string(trials_.size()) + " of " + std::to_string(options_.trials) + " trials";
    if (options_.file.empty()) {
      fail(ErrorCode::interrupted, "interrupted after ", done, ", which no --json FILE has");
    }
    fail(ErrorCode::interrupted, "interrupted; ", in_quotes(options_.file), " has ", done,
         ": --resume goes on");
  }

  // A short run of magnitude pruning, whatever the method of the run itself.
  void prune(RunConfig config, TorchTrainee& trainee, LayerTrial& trial) const {
    config.method = {.method = Method::magnitude,
                     .allocation = goal_allocation(config.method, config.evolution)};
    config.evolution.iter_nr = kIterations;
    config.evolution.batch_nr = options_.batches / kIterations;
    config.evolution.mask_interval = std::max<std::int64_t>(1, options_.batches / kMaskIntervals);
    Stage stage = pruning_stage(config);
    stage.rate.warmup = 0.0;  // in iterations, of which a run has many more
    trainee.begin(stage);
    Magnitude pruning(config.method, config.evolution, trainee, {});
    while (!pruning.finished()) pruning.step();
    const EvolutionResult result = pruning.result();
    trial.cost = result.cost;
    trial.accuracy = result.best.accuracy;
    trial.reason = result.shortfall;
  }

  const LayerTrial& best() const {
    const LayerTrial& found = *std::ranges::max_element(trials_, {}, &LayerTrial::fitness);
    if (found.reason.empty()) return found;
    fail(ErrorCode::usage, config_.place("prune"),
         "no set of layers that was tried can be pruned to ",
         "the target; the last one: ", trials_.back().reason);
  }

  std::vector<std::string> all_removed(const std::vector<std::string>& removed) const {
    std::vector<std::string> all = config_.model.removed_layers;
    all.insert(all.end(), removed.begin(), removed.end());
    return all;
  }

  std::string cost_text(double cost) const { return is_time() ? general(cost, 4) : fixed(cost, 0); }

  std::string table(const std::vector<std::string>& removed) const {
    Table table({{"accuracy", Table::Side::right},
                 {is_time() ? "ms" : "kept", Table::Side::right},
                 {"layers left out"}});
    std::vector<LayerTrial> order = trials_;
    std::ranges::stable_sort(order, std::greater(), &LayerTrial::fitness);
    for (const LayerTrial& trial : order) {
      const std::string names = trial.removed.empty() ? "none" : joined(trial.removed);
      if (trial.reason.empty()) {
        table.add({fixed(100 * trial.accuracy, 2), cost_text(trial.cost), names});
      } else {
        table.add({"", "", names + ": " + trial.reason});
      }
    }
    return "accuracy (%) on " + std::to_string(data_.validation.count) +
           " validation images, pruned to the target in " + std::to_string(options_.batches) +
           " batches:\n" + table.text() + "best: model.remove_layers=[" + joined(removed) + "]" +
           (is_time() ? ""
                      : " prune.target_kept=" + std::to_string(config_.evolution.target_kept)) +
           "\n";
  }

  // Without what was found.
  Json json() const {
    Json trials = Json::array();
    for (const LayerTrial& trial : trials_) trials.push_back(trial_json(trial, is_time()));
    return {{"command", "prune"},
            {"version", version_text()},
            {"mode", "search"},
            {"name", config_.name},
            {"weights", config_.model.weights},
            {"device", device_},
            {"search", to_string(options_.sets.search)},
            {"batches", options_.batches},
            {"validation_images", data_.validation.count},
            {"settings", settings_},
            {"layers", layers_},
            {"trials", trials}};
  }

  RunConfig config_;
  LayerSearchOptions options_;
  std::string settings_;
  EarlierTrials earlier_;
  std::optional<Model> given_;
  DataSet data_;
  Model whole_;
  std::vector<std::string> layers_;
  std::vector<LayerTrial> trials_;
  std::string device_ = earlier_.device;
};

void check(const RunConfig& config, const LayerSearchOptions& options) {
  if (options.batches < kIterations || options.batches % kIterations != 0) {
    fail(ErrorCode::usage, "--trial-batches: found ", options.batches, ", expected a multiple of ",
         kIterations);
  }
  if (config.stage.vector == kMixed) {
    fail(ErrorCode::usage, config.place("prune.granularity"),
         "prune.granularity: found mixed, --search-layers needs one for all layers");
  }
}

}  // namespace

LayerSearchResult search_layers(const RunConfig& config, const LayerSearchOptions& options) {
  check(config, options);
  return LayerSearcher(config, options).search();
}

}  // namespace winnow
