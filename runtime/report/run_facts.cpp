#include "runtime/report/run_facts.h"

#include <filesystem>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>
#include <system_error>

#include "runtime/base/error.h"
#include "runtime/base/file.h"

namespace winnow {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kLimitBytes = 256u << 20;

std::optional<double> number(const Json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

double number_or_zero(const Json& json, const char* key) {
  return number(json, key).value_or(0);
}

std::string text(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

std::optional<double> percent(const Json& json, const char* key) {
  const auto value = number(json, key);
  return value ? std::optional(*value / 100) : std::nullopt;
}

bool is_there(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found) return false;
  if (error) fail(ErrorCode::bad_file, path, ": cannot read: ", error.message());
  return true;
}

// A count of at least `least`.
std::int64_t count(const Json& json, const char* key, std::int64_t least, const std::string& path) {
  const Json& value = json.at(key);
  const bool is_in_range = value.is_number_unsigned() &&
                           value.get<std::uint64_t>() <= std::numeric_limits<std::int64_t>::max();
  if (is_in_range && value.get<std::int64_t>() >= least) return value.get<std::int64_t>();
  fail(ErrorCode::bad_file, path, ": '", key, "': found ", value.dump().substr(0, 40),
       ", expected a whole number of at least ", least);
}

// Hands the parsed file to `use`; false if it is not there.
bool with_json(const std::string& path, const std::function<void(const Json&)>& use) {
  if (!is_there(path)) return false;
  try {
    use(Json::parse(read_text_file(path, kLimitBytes)));
  } catch (const Json::exception& error) {
    fail(ErrorCode::bad_file, path, ": ", error.what());
  }
  return true;
}

void add_stage(RunFacts& facts, const std::string& stage, const Json& json) {
  StageFacts added{stage, {}};
  for (const auto& [key, value] : json.items()) {
    if (value.is_string()) added.values[key] = value.get<std::string>();
    if (value.is_number() || value.is_boolean()) added.values[key] = value.dump();
  }
  facts.stages.push_back(std::move(added));
}

LayerFacts& layer_called(RunFacts& facts, const std::string& name) {
  for (LayerFacts& layer : facts.layers) {
    if (layer.name == name) return layer;
  }
  LayerFacts& added = facts.layers.emplace_back();
  added.name = name;
  return added;
}

void add_prune(RunFacts& facts, const Json& json, const std::string& path) {
  facts.name = text(json, "name");
  facts.network = text(json, "network");
  facts.data = text(json, "data");
  facts.dense_accuracy = number(json, "dense_accuracy");
  facts.pruned_accuracy = number(json, "accuracy");
  facts.sparsity = number(json, "sparsity");
  for (const Json& layer : json.at("layers")) {
    LayerFacts& target = layer_called(facts, text(layer, "name"));
    target.weights = count(layer, "weights", 0, path);
    target.sparsity = number_or_zero(layer, "sparsity");
  }
}

void add_export(RunFacts& facts, const Json& json) {
  facts.model_file = text(json, "file");
  facts.file_bytes = number(json, "bytes");
  facts.dense_f32_bytes = number(json, "dense_f32_bytes");
  for (const Json& layer : json.at("layers")) {
    LayerFacts& target = layer_called(facts, text(layer, "name"));
    target.dense_f32_bytes = number(layer, "dense_f32_bytes");
    target.stored_bytes =
        number_or_zero(layer, "index_bytes") + number_or_zero(layer, "value_bytes");
  }
}

std::optional<double> median(const Json& plan, const char* key) {
  const auto found = plan.find(key);
  return found == plan.end() ? std::nullopt : number(*found, "median");
}

std::optional<double> layer_median(const Json& plan, const std::string& name) {
  if (!plan.contains("layers")) return std::nullopt;
  for (const Json& layer : plan.at("layers")) {
    if (text(layer, "name") == name) return median(layer, "ms");
  }
  return std::nullopt;
}

void add_bench(RunFacts& facts, const Json& json, const std::string& path) {
  for (const Json& comparison : json) {
    const Json &dense = comparison.at("dense"), &sparse = comparison.at("sparse");
    const Json& chosen = comparison.at("chosen");
    BatchFacts batch;
    batch.device = text(comparison, "device");
    batch.precision = text(comparison, "precision");
    batch.batch = count(comparison, "batch", 1, path);
    batch.dense_ms = median(dense, "network_ms");
    batch.sparse_ms = median(sparse, "network_ms");
    batch.chosen_ms = median(chosen, "network_ms").value_or(0);
    for (const Json& layer : chosen.at("layers")) {
      const std::string name = text(layer, "name");
      batch.layers.push_back({name, layer_median(dense, name), layer_median(sparse, name),
                              median(layer, "ms").value_or(0), text(layer, "kernel")});
    }
    facts.batches.push_back(std::move(batch));
  }
}

void add_metrics_line(RunFacts& facts, const Json& line) {
  if (text(line, "stage") == "dense") {
    facts.epochs.push_back({number_or_zero(line, "epoch"), number_or_zero(line, "learning_rate"),
                            number(line, "loss"), number(line, "accuracy")});
    return;
  }
  IterationPoint point;
  point.iteration = number_or_zero(line, "iteration");
  point.loss = number(line, "loss");
  point.accuracy = number_or_zero(line, "accuracy");
  point.sparsity = number_or_zero(line, "weight_sparsity");
  point.alpha = number_or_zero(line, "alpha");
  point.is_accepted = line.value("accepted", false);
  point.action = text(line, "action");
  if (line.contains("migration")) point.migration = number_or_zero(line.at("migration"), "rate");
  if (line.contains("pool")) point.pool_best = number_or_zero(line.at("pool"), "best_accuracy");
  facts.iterations.push_back(std::move(point));
}

bool add_metrics(RunFacts& facts, const std::string& path) {
  if (!is_there(path)) return false;
  const std::string content = read_text_file(path, kLimitBytes);
  std::istringstream lines(content.substr(0, content.rfind('\n') + 1));
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    try {
      if (!line.empty()) add_metrics_line(facts, Json::parse(line));
    } catch (const Json::exception& error) {
      fail(ErrorCode::bad_file, path, ":", number, ": ", error.what());
    }
  }
  return true;
}

}  // namespace

RunFacts read_run_facts(const std::string& folder) {
  RunFacts facts;
  const auto in_folder = [&](const char* name) { return folder + "/" + name; };
  const std::string prune = in_folder("prune.json"), bench = in_folder("bench.json");
  const auto with_stage = [&](const char* stage, const std::function<void(const Json&)>& use) {
    return with_json(in_folder(stage) + ".json", [&](const Json& json) {
      use(json);
      const bool is_list = json.is_array() && !json.empty();
      add_stage(facts, stage, is_list ? json.front() : json);
    });
  };
  bool any = with_stage("prune", [&](const Json& j) { add_prune(facts, j, prune); });
  any |= with_stage("quantize", [&](const Json& j) {
    facts.scheme = text(j, "scheme");
    facts.quantized_accuracy = percent(j, "accuracy_after");
  });
  any |= with_stage("export", [&](const Json& j) { add_export(facts, j); });
  any |= with_stage("run", [&](const Json& j) {
    facts.deployed_accuracy = percent(j, "accuracy");
    facts.deployed_device = text(j, "device");
  });
  any |= with_stage("bench", [&](const Json& j) { add_bench(facts, j, bench); });
  any |= add_metrics(facts, in_folder("metrics.jsonl"));
  if (!any) {
    fail(ErrorCode::bad_file, folder, ": no run folder: none of prune.json, quantize.json, ",
         "export.json, run.json, bench.json, metrics.jsonl is there");
  }
  if (is_there(in_folder("config.yaml"))) {
    facts.config_text = read_text_file(in_folder("config.yaml"));
  }
  return facts;
}

}  // namespace winnow
