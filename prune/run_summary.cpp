#include "prune/run_summary.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "runtime/base/file.h"
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
Json layers_json(const Model& model) {
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
  }
  return layers;
}

// What the table predicts of the pruned network, and of what.
Json time_json(const RunConfig& config, const EvolutionResult& result) {
  const TimeModel& time = *config.evolution.time;
  const double target = config.evolution.target_ms > 0.0
                            ? config.evolution.target_ms
                            : time.dense_ms / config.evolution.target_speedup;
  return {{"table", config.time_table},
          {"device", time.device},
          {"precision", time.precision},
          {"batch", time.batch},
          {"dense_ms", time.dense_ms},
          {"target_ms", target},
          {"predicted_ms", result.predicted_ms},
          {"predicted_speedup", time.dense_ms / result.predicted_ms},
          {"constant_ms", time.constant_ms},
          {"scale", time.scale}};
}

}  // namespace

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
    json["time"] = time_json(config, parts.result);
  } else {
    json["target_sparsity"] = config.evolution.target_sparsity;
  }
  json["target_met"] = parts.summary.target_met;
  if (!parts.summary.shortfall.empty()) json["shortfall"] = parts.summary.shortfall;
  json["method"] = to_string(config.method.method);
  json["granularity"] = granularity_name(config.stage.vector);
  json["layers"] = layers_json(parts.model);
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
