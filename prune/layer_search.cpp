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
#include "prune/methods/goal_plan.h"
#include "prune/methods/magnitude.h"
#include "prune/prune_program.h"
#include "prune/run/run_training.h"
#include "prune/start_model.h"
#include "prune/timing/time_table.h"
#include "prune/training/torch_trainee.h"
#include "prune/training/trainability.h"
#include "runtime/base/error.h"
#include "runtime/base/number_text.h"
#include "runtime/base/suggest.h"
#include "runtime/base/version.h"
#include "runtime/cli/progress.h"
#include "runtime/cli/table.h"

namespace winnow {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kUnfit = -1.0;  // below every accuracy
// Of a trial. Masks change in the first iterations, as `prune_until` says; the last ones only
// train.
constexpr std::int64_t kIterations = 4;
constexpr std::int64_t kMaskIntervals = 16;

struct SetTrial {
  std::vector<std::string> removed;
  double cost = 0.0;  // of the pruned network, in what the budget counts
  double accuracy = 0.0;
  std::string reason;  // why it was not trained; empty if it was

  double fitness() const { return reason.empty() ? accuracy : kUnfit; }
};

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ",") + name;
  return text;
}

class LayerSearcher {
 public:
  LayerSearcher(const RunConfig& config, const LayerSearchOptions& options)
      : config_(with_times(config)),
        options_(options),
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
    const auto progress = progress_callback("search: trial", options_.is_quiet);
    while (static_cast<std::int64_t>(trials_.size()) < options_.trials) {
      const std::optional<LayerSet> set = sets.next();
      if (!set) break;
      trials_.push_back(trial_of(*set));
      sets.add(*set, trials_.back().fitness());
      if (progress) progress(trials_.size(), static_cast<std::size_t>(options_.trials));
    }
    return {table(), json()};
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

  SetTrial trial_of(const LayerSet& set) {
    SetTrial trial;
    for (std::size_t i = 0; i < set.size(); ++i) {
      if (set[i]) trial.removed.push_back(layers_[i]);
    }
    try {
      Model model = whole_;
      remove_layers(model, trial.removed);
      RunConfig config = config_;
      config.model.removed_layers = all_removed(trial);
      config = with_times(config);  // which layers count
      TorchTrainee trainee(model, data_, trainee_options(config, {}));
      device_ = trainee.device();
      const LayerBudget budget(config.evolution, trainee.layers());
      if (budget.goal_density() > budget.target_density()) {
        trial.reason =
            std::string(is_time() ? "is too slow" : "keeps too much") + " under its limits";
      } else {
        prune(config, trainee, trial);
      }
    } catch (const Error& error) {  // of the budget: no masks, or none that meet the target
      if (error.code() != ErrorCode::usage) throw;
      trial.reason = error.what();
    }
    return trial;
  }

  // A short run of magnitude pruning, whatever the method of the run itself.
  void prune(RunConfig config, TorchTrainee& trainee, SetTrial& trial) const {
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

  const SetTrial& best() const {
    const SetTrial& found = *std::ranges::max_element(trials_, {}, &SetTrial::fitness);
    if (found.reason.empty()) return found;
    fail(ErrorCode::usage, config_.place("prune"),
         "no set of layers that was tried can be pruned to ",
         "the target; the last one: ", trials_.back().reason);
  }

  std::vector<std::string> all_removed(const SetTrial& trial) const {
    std::vector<std::string> all = config_.model.removed_layers;
    all.insert(all.end(), trial.removed.begin(), trial.removed.end());
    return all;
  }

  std::string cost_text(double cost) const { return is_time() ? general(cost, 4) : fixed(cost, 0); }

  std::string table() const {
    Table table({{"accuracy", Table::Side::right},
                 {is_time() ? "ms" : "kept", Table::Side::right},
                 {"layers left out"}});
    std::vector<SetTrial> order = trials_;
    std::ranges::stable_sort(order, std::greater(), &SetTrial::fitness);
    for (const SetTrial& trial : order) {
      const std::string names = trial.removed.empty() ? "none" : joined(trial.removed);
      if (trial.reason.empty()) {
        table.add({fixed(100 * trial.accuracy, 2), cost_text(trial.cost), names});
      } else {
        table.add({"", "", names + ": " + trial.reason});
      }
    }
    return "accuracy (%) on " + std::to_string(data_.validation.count) +
           " validation images, pruned to the target in " + std::to_string(options_.batches) +
           " batches:\n" + table.text() + "best: model.remove_layers=[" +
           joined(all_removed(best())) + "]" +
           (is_time() ? ""
                      : " prune.target_kept=" + std::to_string(config_.evolution.target_kept)) +
           "\n";
  }

  std::string json() const {
    Json trials = Json::array();
    for (const SetTrial& trial : trials_) {
      Json one = {{"removed", trial.removed}};
      if (trial.reason.empty()) {
        if (is_time()) {
          one["predicted_ms"] = trial.cost;
        } else {
          one["kept"] = std::llround(trial.cost);
        }
        one["accuracy"] = trial.accuracy;
      } else {
        one["not_trained"] = trial.reason;
      }
      trials.push_back(std::move(one));
    }
    Json found = {{"command", "prune"},
                  {"version", version_text()},
                  {"mode", "search"},
                  {"name", config_.name},
                  {"weights", config_.model.weights},
                  {"device", device_},
                  {"search", to_string(options_.sets.search)},
                  {"batches", options_.batches},
                  {"validation_images", data_.validation.count},
                  {"layers", layers_},
                  {"trials", trials},
                  {"remove_layers", all_removed(best())}};
    if (!is_time()) found["target_kept"] = config_.evolution.target_kept;
    return found.dump(2);
  }

  RunConfig config_;
  LayerSearchOptions options_;
  std::optional<Model> given_;
  DataSet data_;
  Model whole_;
  std::vector<std::string> layers_;
  std::vector<SetTrial> trials_;
  std::string device_;
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
