#include "prune/run/run_summary.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "prune/evolution/budget/layer_budget.h"
#include "runtime/base/file.h"
#include "runtime/base/number_text.h"
#include "runtime/base/version.h"
#include "runtime/cli/program.h"

namespace winnow {
namespace {

using Json = nlohmann::ordered_json;

std::int64_t nonzeros(const Tensor& weight) {
  const auto values = weight.values<float>();
  return std::count_if(values.begin(), values.end(), [](float value) { return value != 0.0f; });
}

// Weights of each conv and linear layer: how many, how many are not zero.
Json layers_json(const Model& model, const std::vector<std::int64_t>& granularities) {
  Json layers = Json::array();
  for (const Node& node : model.graph.nodes) {
    if (!std::holds_alternative<Conv>(node.op) && !std::holds_alternative<Linear>(node.op))
      continue;
    const Tensor& weight = model.tensors.at(weight_name(node));
    const std::int64_t kept = nonzeros(weight);
    const double share = static_cast<double>(kept) / static_cast<double>(weight.count());
    layers.push_back({{"name", node.name},
                      {"op", op_name(node.op)},
                      {"shape", weight.shape()},
                      {"weights", weight.count()},
                      {"nonzeros", kept},
                      {"sparsity", 1.0 - share}});
    if (granularities.empty()) continue;
    layers.back()["granularity"] = granularity_name(granularities.at(layers.size() - 1));
  }
  return layers;
}

void add_rounds(const RunConfig& config, const TimeRounds& rounds, Json& json) {
  const TimeMeasurement& last = rounds.measured.back();
  json["measured_ms"] = last.measured_ms;
  json["measured_speedup"] = config.evolution.time->dense_ms / last.measured_ms;
  json["deviation"] = last.deviation();
  json["tolerance"] = config.time_loop.tolerance;
  json["agrees"] = agrees(config, last);
  json["measurements"] = Json::array();
  for (const TimeMeasurement& one : rounds.measured) {
    json["measurements"].push_back({{"network", one.is_pruned ? "pruned" : "rehearsal"},
                                    {"predicted_ms", one.predicted_ms},
                                    {"measured_ms", one.measured_ms}});
  }
}

// What the table predicts of the pruned network, and of what.
Json time_json(const SummaryParts& parts) {
  const TimeModel& time = *parts.config.evolution.time;
  Json json = {
      {"table", parts.config.time_table},  {"device", time.device},
      {"precision", time.precision},       {"batch", time.batch},
      {"dense_ms", time.dense_ms},         {"target_ms", target_ms(parts.config.evolution)},
      {"predicted_ms", parts.result.cost}, {"predicted_speedup", time.dense_ms / parts.result.cost},
      {"constant_ms", time.constant_ms},   {"scale", time.scale}};
  if (!parts.rounds.measured.empty()) add_rounds(parts.config, parts.rounds, json);
  return json;
}

// The members of the pool, with what their masks keep of each layer.
Json population_json(const SummaryParts& parts) {
  Json members = Json::array();
  for (std::size_t member = 0; member < parts.pool.size(); ++member) {
    const Solution& solution = parts.pool[member];
    Json sparsities = Json::object();
    for (std::size_t i = 0; i < parts.layers.size(); ++i) {
      const auto weights = static_cast<double>(parts.layers[i].weights);
      sparsities[parts.layers[i].name] =
          1.0 - static_cast<double>(solution.kept_weights.at(i)) / weights;
    }
    members.push_back({{"solution", solution.id},
                       {"parent", solution.parent},
                       {"batches", solution.trained},
                       {"accuracy", solution.accuracy},
                       {"sparsity", solution.sparsity()},
                       {"fitness", parts.result.fitness.at(member)},
                       {"answer", solution.id == parts.result.best.id},
                       {"sparsities", std::move(sparsities)}});
  }
  return members;
}

}  // namespace

void note_time(const RunConfig& config, const TimeRounds& rounds, PruneSummary& summary) {
  const TimeMeasurement& last = rounds.measured.back();
  summary.time = describe(last) + ", rounds: " + std::to_string(rounds.pruned());
  if (agrees(config, last)) return;
  const double target = target_ms(config.evolution);
  if (last.measured_ms <= target * (1.0 + config.time_loop.tolerance)) {
    summary.notice = "times differ by more than the tolerance: " + summary.time;
    return;
  }
  summary.target_met = false;
  summary.shortfall += (summary.shortfall.empty() ? "" : "; ") + std::string("target of ") +
                       general(target, 4) + " ms is not met: " + summary.time;
}

std::string summary_json(const SummaryParts& parts) {
  const RunConfig& config = parts.config;
  Json json = {{"command", "prune"},
               {"version", version_text()},
               {"name", config.name},
               {"network", parts.model.graph.name},
               {"data", parts.model.metadata.at(kDataFormatKey) + " in " +
                            parts.model.metadata.at(kDataPathKey)},
               {"seed", config.seed},
               {"device", parts.device},
               {"libtorch", parts.model.metadata.at("libtorch")}};
  if (config.has_baseline()) json["dense_accuracy"] = parts.summary.dense_accuracy;
  json["accuracy"] = parts.summary.pruned_accuracy;
  json["validation_accuracy"] = parts.result.best.accuracy;
  json["sparsity"] = parts.summary.sparsity;
  if (config.evolution.time) {
    json["time"] = time_json(parts);
  } else if (config.evolution.target_kept > 0) {
    json["target_kept"] = config.evolution.target_kept;
  } else {
    json["target_sparsity"] = config.evolution.target_sparsity;
  }
  json["target_met"] = parts.summary.target_met;
  if (!parts.summary.shortfall.empty()) json["shortfall"] = parts.summary.shortfall;
  json["method"] = to_string(config.method.method);
  json["granularity"] = granularity_name(config.stage.vector);
  if (!config.model.removed_layers.empty()) json["removed_layers"] = config.model.removed_layers;
  json["layers"] = layers_json(parts.model, parts.granularities);
  json["population"] = population_json(parts);
  if (parts.peak_gpu_bytes > 0) json["peak_gpu_bytes"] = parts.peak_gpu_bytes;
  json["seconds"] = {{"dense", parts.dense_seconds}, {"prune", parts.prune_seconds}};
  return json.dump(2);
}

void write_summary(const RunFolder& folder, const std::string& json) {
  write_file_atomically(folder.summary(), json + "\n");
  std::error_code ignored;
  std::filesystem::remove(folder.checkpoint(), ignored);
}

void add_versions(std::map<std::string, std::string>& metadata) {
  metadata["winnow"] = version_text();
  metadata["libtorch"] = WINNOW_TORCH_VERSION;
}

}  // namespace winnow
