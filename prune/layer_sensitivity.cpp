#include "prune/layer_sensitivity.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "prune/layer_removal.h"
#include "prune/prune_program.h"
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
#include "runtime/report/chart.h"
#include "runtime/report/html.h"

namespace winnow {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kLayersPerChart = 20;

// The accuracy without a layer.
struct Removed {
  std::string layer;
  double accuracy = 0.0;
};

struct Scan {
  const RunConfig& config;
  const std::vector<double>& sparsities;
  const std::vector<PrunableLayer>& layers;
  LayerScan measured;
  std::vector<Removed> removed;
  std::string device;
  std::int64_t images = 0;
};

std::string percent(double fraction) {
  return fixed(100 * fraction, 2);
}

std::string removal_table(const Scan& scan) {
  if (scan.removed.empty()) return "";
  Table table({{"layer"}, {"accuracy", Table::Side::right}});
  for (const Removed& one : scan.removed) table.add({one.layer, percent(one.accuracy)});
  return "with one layer removed, nothing trained:\n" + table.text();
}

std::string table_of(const Scan& scan) {
  std::vector<Table::Column> columns = {{"layer"}, {"weights", Table::Side::right}};
  for (const double sparsity : scan.sparsities) {
    columns.push_back({"at " + general(sparsity, 4), Table::Side::right});
  }
  Table table(columns);
  for (std::size_t i = 0; i < scan.layers.size(); ++i) {
    std::vector<std::string> cells = {scan.layers[i].name, std::to_string(scan.layers[i].weights)};
    for (const double accuracy : scan.measured.accuracies[i]) cells.push_back(percent(accuracy));
    table.add(std::move(cells));
  }
  return "accuracy (%) on " + std::to_string(scan.images) + " validation images, unpruned " +
         percent(scan.measured.accuracy) + ", with one layer pruned to a sparsity:\n" +
         table.text() + removal_table(scan);
}

std::string json_of(const Scan& scan) {
  Json layers = Json::array();
  for (std::size_t i = 0; i < scan.layers.size(); ++i) {
    Json layer = {{"name", scan.layers[i].name}};
    if (!scan.layers[i].members.empty()) layer["members"] = scan.layers[i].members;
    layer["weights"] = scan.layers[i].weights;
    layer["initial_sparsity"] = scan.layers[i].initial_sparsity;
    layer["accuracies"] = scan.measured.accuracies[i];
    layers.push_back(std::move(layer));
  }
  Json removed = Json::array();
  for (const Removed& one : scan.removed) {
    removed.push_back({{"name", one.layer}, {"accuracy", one.accuracy}});
  }
  const Json json = {{"command", "prune"},
                     {"version", version_text()},
                     {"mode", "sensitivity"},
                     {"name", scan.config.name},
                     {"weights", scan.config.model.weights},
                     {"device", scan.device},
                     {"validation_images", scan.images},
                     {"accuracy", scan.measured.accuracy},
                     {"sparsities", scan.sparsities},
                     {"layers", layers},
                     {"removed", removed}};
  return json.dump(2);
}

// Bars of the layers from `first` on, one for each sparsity.
std::string chart_of(const Scan& scan, std::size_t first) {
  const std::size_t end = std::min(first + kLayersPerChart, scan.layers.size());
  Bars bars;
  for (std::size_t i = first; i < end; ++i) bars.categories.push_back(scan.layers[i].name);
  for (std::size_t s = 0; s < scan.sparsities.size(); ++s) {
    bars.names.push_back(general(scan.sparsities[s], 4));
    std::vector<double>& values = bars.values.emplace_back();
    for (std::size_t i = first; i < end; ++i) {
      values.push_back(100 * scan.measured.accuracies[i][s]);
    }
  }
  return bar_chart({"Accuracy with one layer pruned, by its sparsity", "layer", "%"}, bars);
}

std::string removal_chart(const Scan& scan, std::size_t first) {
  const std::size_t end = std::min(first + kLayersPerChart, scan.removed.size());
  Bars bars{{}, {"removed"}, {{}}};
  for (std::size_t i = first; i < end; ++i) {
    bars.categories.push_back(scan.removed[i].layer);
    bars.values[0].push_back(100 * scan.removed[i].accuracy);
  }
  return bar_chart({"Accuracy with one layer removed", "layer", "%"}, bars);
}

std::string page_of(const Scan& scan) {
  std::string content;
  for (std::size_t first = 0; first < scan.layers.size(); first += kLayersPerChart) {
    content += chart_of(scan, first);
  }
  for (std::size_t first = 0; first < scan.removed.size(); first += kLayersPerChart) {
    content += removal_chart(scan, first);
  }
  content += "<pre tabindex='0'>" + escape_html(table_of(scan)) + "</pre>\n";
  return html_page(scan.config.name + ": sensitivity of the layers", content);
}

void check_options(const RunConfig& config, const SensitivityOptions& options) {
  if (config.model.weights.empty()) {
    fail(ErrorCode::usage, config.place("model"),
         "--sensitivity measures weights: 'model.weights' names no file");
  }
  if (config.stage.vector == kMixed) {
    fail(ErrorCode::usage, config.place("prune.granularity"),
         "prune.granularity: found mixed, --sensitivity needs one for all layers");
  }
  for (const double sparsity : options.sparsities) {
    if (sparsity >= 0 && sparsity < 1) continue;
    fail(ErrorCode::usage, "--sparsities: found ", sparsity, ", expected 0 or more, less than 1");
  }
}

TraineeOptions trainee_options(const RunConfig& config) {
  return {.device = config.device,
          .threads = config.threads,
          .seed = config.evolution.seed,
          .train = config.train,
          .augment = config.augment,
          .vector = config.stage.vector,
          .row_balance = config.stage.row_balance,
          .batch_norm_images = config.stage.batch_norm_images};
}

std::vector<Removed> measure_removals(const RunConfig& config, const Model& whole,
                                      const DataSet& data, bool is_quiet) {
  const std::vector<std::string> layers = removable_layers(whole.graph);
  const auto progress = progress_callback("sensitivity: layer removed", is_quiet);
  std::vector<Removed> removed;
  for (const std::string& layer : layers) {
    Model model = whole;
    remove_layers(model, std::span(&layer, 1));
    TorchTrainee trainee(model, data, trainee_options(config));
    Stage stage;
    stage.is_pruning = true;
    trainee.begin(stage);
    removed.push_back({layer, trainee.measure_accuracy()});
    if (progress) progress(removed.size(), layers.size());
  }
  return removed;
}

}  // namespace

SensitivityResult measure_sensitivity(const RunConfig& config, const SensitivityOptions& options) {
  check_options(config, options);
  const std::optional<Model> given = read_given_model(config);
  const DataSet data =
      load_run_data(with_times(config), options.is_quiet, image_cache(config), given);
  TorchTrainee trainee(*given, data, trainee_options(config));
  Stage stage;
  stage.is_pruning = true;
  trainee.begin(stage);
  const auto progress = progress_callback("sensitivity: measurement", options.is_quiet);
  const Scan scan = {.config = config,
                     .sparsities = options.sparsities,
                     .layers = trainee.layers(),
                     .measured = scan_layers(trainee, options.sparsities, progress),
                     .removed = measure_removals(config, *given, data, options.is_quiet),
                     .device = trainee.device(),
                     .images = data.validation.count};
  return {table_of(scan), json_of(scan), page_of(scan)};
}

}  // namespace winnow
