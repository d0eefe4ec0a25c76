#include "runtime/report/run_facts.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <sstream>
#include <system_error>

#include "runtime/base/error.h"
#include "runtime/base/file.h"
#include "runtime/report/deployed_facts.h"
#include "runtime/report/json_values.h"

namespace winnow {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kLimitBytes = 256u << 20;

bool is_there(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found) return false;
  if (error) fail(ErrorCode::bad_file, path, ": cannot read: ", error.message());
  return true;
}

// Without the library's own name for it.
std::string reason(const Json::exception& error) {
  if (const auto* parsing = dynamic_cast<const Json::parse_error*>(&error)) {
    return "byte " + std::to_string(parsing->byte) + ": no valid JSON";
  }
  const std::string text = error.what();
  const std::size_t end = text.find("] ");
  return end == std::string::npos ? text : text.substr(end + 2);
}

// Hands the parsed file to `use`; false if it is not there.
bool with_json(const std::string& path, const std::function<void(const Json&)>& use) {
  if (!is_there(path)) return false;
  try {
    use(Json::parse(read_text_file(path, kLimitBytes)));
  } catch (const Json::exception& error) {
    fail(ErrorCode::bad_file, path, ": ", reason(error));
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

// An object of numbers, one for each layer. What is no number is left out.
std::vector<std::pair<std::string, double>> by_layer(const Json& json, const char* key) {
  std::vector<std::pair<std::string, double>> values;
  if (!json.contains(key)) return values;
  for (const auto& [layer, value] : json.at(key).items()) {
    if (value.is_number()) values.emplace_back(layer, value.get<double>());
  }
  return values;
}

void add_member(RunFacts& facts, const Json& json) {
  MemberFacts& member = facts.population.emplace_back();
  member.solution = std::to_string(json.at("solution").get<std::int64_t>());
  member.accuracy = number_or_zero(json, "accuracy");
  member.sparsity = number_or_zero(json, "sparsity");
  member.is_answer = json.value("answer", false);
  member.fitness = number(json, "fitness");
  member.sparsities = by_layer(json, "sparsities");
}

void add_prune(RunFacts& facts, const Json& json, const std::string& path) {
  facts.name = text(json, "name");
  facts.network = text(json, "network");
  facts.data = text(json, "data");
  facts.dense_accuracy = number(json, "dense_accuracy");
  facts.pruned_accuracy = number(json, "accuracy");
  facts.sparsity = number(json, "sparsity");
  if (json.contains("time")) {
    facts.predicted_ms = number(json.at("time"), "predicted_ms");
    facts.table_dense_ms = number(json.at("time"), "dense_ms");
    facts.table_device = text(json.at("time"), "device");
  }
  if (json.contains("removed_layers")) facts.removed_layers = json.at("removed_layers").size();
  if (json.contains("population")) {
    for (const Json& member : json.at("population")) add_member(facts, member);
  }
  for (const Json& layer : json.at("layers")) {
    LayerFacts& target = layer_called(facts, text(layer, "name"));
    target.weights = count(layer, "weights", 0, path);
    target.sparsity = number_or_zero(layer, "sparsity");
    target.granularity = text(layer, "granularity");
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

void add_metrics_line(RunFacts& facts, const Json& line) {
  if (text(line, "stage") == "run") return;          // the first line: command and version
  if (text(line, "stage") == "granularity") return;  // prune.json has it too
  if (text(line, "stage") == "permutation") return;  // nothing to draw
  if (text(line, "stage") == "dense") {
    facts.epochs.push_back({number_or_zero(line, "epoch"), number_or_zero(line, "learning_rate"),
                            number(line, "loss"), number(line, "accuracy")});
    return;
  }
  if (text(line, "stage") == "time") {
    facts.measurements.push_back({text(line, "network"), number_or_zero(line, "predicted_ms"),
                                  number_or_zero(line, "measured_ms")});
    return;
  }
  IterationPoint point;
  point.iteration = number_or_zero(line, "iteration");
  if (!facts.iterations.empty() && point.iteration <= facts.iterations.back().iteration) {
    facts.iterations.clear();  // pruning began again
  }
  if (line.value("finite", true)) point.loss = number(line, "loss");
  point.accuracy = number_or_zero(line, "accuracy");
  point.sparsity = number_or_zero(line, "weight_sparsity");
  point.alpha = number_or_zero(line, "alpha");
  point.predicted_ms = number(line, "predicted_ms");
  point.is_accepted = line.value("accepted", false);
  point.action = text(line, "action");
  if (line.contains("migration")) point.migration = number_or_zero(line.at("migration"), "rate");
  if (line.contains("pool")) point.pool_best = number_or_zero(line.at("pool"), "best_accuracy");
  point.sparsities = by_layer(line, "kept");
  for (auto& [layer, value] : point.sparsities) value = 1.0 - value;
  point.sensitivities = by_layer(line, "sensitivity");
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
      fail(ErrorCode::bad_file, path, ":", number, ": ", reason(error));
    }
  }
  return true;
}

// JSON keeps no order in an object.
void put_in_order(const RunFacts& facts, std::vector<std::pair<std::string, double>>& values) {
  const auto place = [&](const std::string& name) {
    const auto found =
        std::ranges::find(facts.layers, name, [](const LayerFacts& layer) { return layer.name; });
    return found - facts.layers.begin();
  };
  std::ranges::stable_sort(values, {}, [&](const auto& one) { return place(one.first); });
}

void put_layers_in_order(RunFacts& facts) {
  for (IterationPoint& point : facts.iterations) {
    put_in_order(facts, point.sparsities);
    put_in_order(facts, point.sensitivities);
  }
  for (MemberFacts& member : facts.population) put_in_order(facts, member.sparsities);
}

}  // namespace

RunFacts read_run_facts(const std::string& folder) {
  RunFacts facts;
  const auto in_folder = [&](const char* name) { return folder + "/" + name; };
  const std::string prune = in_folder("prune.json"), bench = in_folder("bench.json");
  const std::string run = in_folder("run.json"), inspect = in_folder("inspect.json");
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
    facts.quantized_accuracy = fraction(j, "accuracy_after");
  });
  any |= with_stage("export", [&](const Json& j) { add_export(facts, j); });
  any |= with_stage("run", [&](const Json& j) { add_run(facts, j, run); });
  any |= with_stage("bench", [&](const Json& j) { add_bench(facts, j, bench); });
  any |= with_stage("inspect", [&](const Json& j) { add_inspect(facts, j, inspect); });
  any |= add_metrics(facts, in_folder("metrics.jsonl"));
  if (!any) {
    fail(ErrorCode::bad_file, folder, ": no run folder: none of prune.json, quantize.json, ",
         "export.json, run.json, bench.json, inspect.json, metrics.jsonl is there");
  }
  put_layers_in_order(facts);
  if (is_there(in_folder("config.yaml"))) {
    facts.config_text = read_text_file(in_folder("config.yaml"));
  }
  return facts;
}

}  // namespace winnow
