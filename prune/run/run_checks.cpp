#include "prune/run/run_checks.h"

#include <algorithm>

#include "prune/evolution/budget/layer_budget.h"
#include "prune/training/torch_errors.h"
#include "prune/training/trainability.h"
#include "runtime/base/error.h"
#include "runtime/base/processor.h"
#include "runtime/base/suggest.h"

namespace winnow {

namespace {

// Weights alone: training takes several times as much, which only the device can tell.
void require_memory(const Graph& graph) {
  double bytes = 0;
  for (const Node& node : graph.nodes) {
    for (const Parameter& parameter : parameters_of(node)) {
      bytes += 4.0 * static_cast<double>(element_count(parameter.shape));
    }
  }
  const auto memory = static_cast<double>(physical_memory());
  if (bytes <= memory) return;
  fail(ErrorCode::device, graph.name, ": out of memory: ", format_bytes(bytes),
       " of weights, this machine has ", format_bytes(memory));
}

// Batch norm divides by the deviation of a channel's values, so one value a channel is none.
void require_variance(const RunConfig& config, const DataSet& data, const Graph& graph) {
  if (std::min(config.train.batch_size, data.train.count) > 1) return;
  const std::vector<Shape> shapes = infer_shapes(graph, 1);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const auto* norm = std::get_if<BatchNorm>(&graph.nodes[i].op);
    if (!norm || element_count(shapes[i]) > norm->channels) continue;
    const bool is_by_key = config.train.batch_size <= 1;
    fail(ErrorCode::usage, config.place(is_by_key ? "train.batch_size" : "data"),
         is_by_key ? "train.batch_size" : "data: training images", ": found 1, but batch norm ",
         in_quotes(graph.nodes[i].name),
         " sees one value of each channel in an image, expected at least 2");
  }
}

// A network that a file gives is named by its key.
void require_fit_with_place(const RunConfig& config, const DataSet& data, const Graph& graph) {
  try {
    require_fit(graph, data);
  } catch (const Error& error) {
    if (config.model.weights.empty()) throw;
    fail(error.code(), config.place("model.weights"), "model.weights: ", error.what());
  }
}

void check_no_augmentation(const AugmentConfig& augment) {
  const char* key = augment.crop_padding > 0 ? "crop_padding"
                    : augment.flip           ? "flip"
                    : augment.cutout > 0     ? "cutout"
                                             : nullptr;
  if (key) fail(ErrorCode::usage, key, ": changes images, the data is sentences");
}

}  // namespace

void with_place(const RunConfig& config, const std::string& section,
                const std::function<void()>& check) {
  try {
    check();
  } catch (const Error& error) {
    const std::string message = section + "." + error.what();
    fail(error.code(), config.place(message.substr(0, message.find(':'))), message);
  }
}

void check_run(const RunConfig& config, const DataSet& data, const Graph& graph,
               const std::optional<Model>& given) {
  require_fit_with_place(config, data, graph);
  require_memory(graph);
  with_place(config, "augment", [&] {
    if (data.train.holds_tokens()) {
      check_no_augmentation(config.augment);
    } else {
      check_augment_config(config.augment, data.train.height, data.train.width);
    }
  });
  require_variance(config, data, graph);
  if (data.validation.count == 0) {
    fail(ErrorCode::usage, config.place("data.validation"),
         "data.validation: found 0, but the evolution selects by the accuracy on these images");
  }
  with_place(config, "prune", [&] {
    const std::int64_t vector = config.stage.vector;
    const LayerBudget budget(config.evolution, with_rows(given ? prunable_layers(*given, vector)
                                                               : prunable_layers(graph, vector),
                                                         config.stage.row_balance));
  });
}

DataSet with_data_place(const RunConfig& config, const std::function<DataSet()>& load) {
  try {
    return load();
  } catch (const Error& error) {
    const std::string message = error.what();
    const std::string key = message.substr(0, message.find(':'));
    const std::vector<std::string> keys = run_config_keys();
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) throw;
    fail(error.code(), config.place(key), message);
  }
}

}  // namespace winnow
