#include "prune/run/record_json.h"

#include <nlohmann/json.hpp>
#include <numeric>

#include "runtime/base/version.h"

namespace winnow {
namespace {

using Json = nlohmann::ordered_json;

Json by_layer(const std::vector<double>& values, const std::vector<std::string>& layers) {
  Json json = Json::object();
  for (std::size_t i = 0; i < values.size() && i < layers.size(); ++i) json[layers[i]] = values[i];
  return json;
}

double mean_of(const std::vector<double>& values) {
  if (values.empty()) return 0.0;
  return std::reduce(values.begin(), values.end()) / static_cast<double>(values.size());
}

Json chosen_layers(const IterationRecord& record, const std::vector<std::string>& layers) {
  Json json = Json::array();
  for (const std::int64_t index : record.layers) {
    json.push_back(layers.at(static_cast<std::size_t>(index)));
  }
  return json;
}

Json offspring_json(const IterationRecord& record) {
  Json losses = Json::array();
  for (const Offspring& plan : record.offspring) {
    losses.push_back({{"origin", to_string(plan.origin)}, {"loss", plan.loss}});
  }
  return losses;
}

Json pool_json(const PoolSummary& pool) {
  return {{"size", pool.size},
          {"best_accuracy", pool.best_accuracy},
          {"mean_accuracy", pool.mean_accuracy},
          {"min_sparsity", pool.min_sparsity},
          {"max_sparsity", pool.max_sparsity},
          {"spread", pool.spread}};
}

}  // namespace

std::string metrics_header() {
  return Json{{"stage", "run"}, {"command", "prune"}, {"version", version_text()}}.dump();
}

std::string to_json(const EpochRecord& record) {
  Json json = {{"stage", "dense"},
               {"epoch", record.epoch},
               {"batches", record.batches},
               {"learning_rate", record.learning_rate},
               {"loss", record.loss}};
  if (record.accuracy) json["accuracy"] = *record.accuracy;
  json["seconds"] = record.seconds;
  return json.dump();
}

std::string to_json(const IterationRecord& record, const std::vector<std::string>& layers,
                    double seconds) {
  Json json = {{"stage", "prune"},
               {"iteration", record.iteration + 1},
               {"batches", record.batches},
               {"phase", to_string(record.phase)},
               {"solution", record.solution},
               {"child", record.child},
               {"chosen_layers", chosen_layers(record, layers)},
               {"loss", record.loss},
               {"accuracy", record.accuracy},
               {"reference", record.reference},
               {"improvement", record.improvement},
               {"accepted", record.accepted},
               {"forced", record.forced},
               {"action", to_string(record.action)},
               {"sparsity", record.sparsity},
               {"weight_sparsity", record.weight_sparsity},
               {"sparsities", by_layer(record.sparsities, layers)},
               {"kept", by_layer(record.kept, layers)},
               {"alpha", mean_of(record.alphas)},
               {"alphas", by_layer(record.alphas, layers)},
               {"migration",
                {{"entered", record.migration.entered},
                 {"left", record.migration.left},
                 {"rate", record.migration_rate},
                 {"rates", by_layer(record.migration_rates, layers)}}},
               {"sensitivity", by_layer(record.sensitivity, layers)},
               {"stagnation", record.stagnation},
               {"pool", pool_json(record.pool)},
               {"best_accuracy", record.best_accuracy},
               {"best_sparsity", record.best_sparsity}};
  if (!record.is_finite) json["finite"] = false;
  if (record.predicted_ms > 0.0) json["predicted_ms"] = record.predicted_ms;
  if (!record.offspring.empty()) {
    json["offspring"] = offspring_json(record);
    json["origin"] = to_string(record.offspring[record.chosen].origin);
    json["judged_batches"] = record.judged_batches;
  }
  json["seconds"] = seconds;
  return json.dump();
}

std::string last_json(const TimeRounds& rounds, double seconds) {
  const TimeMeasurement& last = rounds.measured.back();
  return Json{{"stage", "time"},
              {"round", rounds.pruned()},
              {"network", last.is_pruned ? "pruned" : "rehearsal"},
              {"predicted_ms", last.predicted_ms},
              {"measured_ms", last.measured_ms},
              {"deviation", last.deviation()},
              {"constant_ms", last.fit.constant_ms},
              {"scale", last.fit.scale},
              {"seconds", seconds}}
      .dump();
}

}  // namespace winnow
