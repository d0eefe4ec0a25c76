#include "runtime/bench/time_calibration.h"

#include <cmath>

#include "runtime/base/error.h"
#include "runtime/base/file.h"
#include "runtime/base/suggest.h"

namespace winnow {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMaxBytes = std::size_t{256} << 20;

Json read_json(const std::string& path) {
  Json json = Json::parse(read_text_file(path, kMaxBytes), nullptr, false);
  if (json.is_discarded()) fail(ErrorCode::bad_file, path, ": no JSON");
  return json;
}

int vector_of(const std::string& granularity) {
  constexpr char kVector[] = "vector";
  if (!granularity.starts_with(kVector)) return 1;
  return std::stoi(granularity.substr(sizeof kVector - 1));
}

void require_equal(const std::string& what, const Json& expected, const Json& found,
                   const std::string& where) {
  if (expected == found) return;
  fail(ErrorCode::usage, where, ": found ", what, " ", in_quotes(found.dump()), ", the table has ",
       in_quotes(expected.dump()));
}

// The element of `list` whose `key` is `value`.
template <typename List>
auto& element_with(List& list, const char* key, const Json& value, const std::string& file) {
  for (auto& one : list) {
    if (one.at(key) == value) return one;
  }
  fail(ErrorCode::usage, file, ": nothing of ", key, " ", value.dump());
}

// What the table says of whole networks of a granularity: "element" or "vector16" of prune.json,
// "channel" or "mixed".
Json& network_of(Json& network, const std::string& granularity, const std::string& file) {
  if (granularity != "channel" && granularity != "mixed") {
    return element_with(network.at("granularities"), "vector", vector_of(granularity), file);
  }
  const std::string key = granularity == "channel" ? "channels" : "mixed";
  if (network.contains(key)) return network.at(key);
  fail(ErrorCode::usage, file, ": nothing of ", granularity);
}

double layers_ms(const Json& batch) {
  double sum = 0;
  for (const Json& layer : batch.at("layers")) sum += layer.at("dense").at("ms").get<double>();
  return sum;
}

TimeCalibration calibrated(Json& table, const std::string& table_file, const Json& prune,
                           const Json& bench, const std::string& folder) {
  const std::string prune_file = folder + "/prune.json", bench_file = folder + "/bench.json";
  if (!prune.contains("time")) {
    fail(ErrorCode::usage, prune_file, ": no 'time': the run's budget was another one");
  }
  const Json& time = prune.at("time");
  const Json& measured = element_with(bench, "batch", time.at("batch"), bench_file);
  for (const char* key : {"device", "precision"}) {
    require_equal(key, table.at(key), time.at(key), prune_file);
    require_equal(key, table.at(key), measured.at(key), bench_file);
  }
  Json& batch = element_with(table.at("batches"), "batch", time.at("batch"), table_file);
  TimeCalibration result;
  result.batch = time.at("batch").get<std::int64_t>();
  result.granularity = prune.at("granularity").get<std::string>();
  Json& network = batch.at("network");
  Json& masked = network_of(network, result.granularity, table_file);
  result.predicted_ms = time.at("predicted_ms").get<double>();
  result.measured_ms = measured.at("chosen").at("network_ms").at("median").get<double>();
  result.before = {masked.at("constant_ms").get<double>(), masked.at("scale").get<double>()};
  const double pruned_layers_ms =
      (result.predicted_ms - time.at("constant_ms").get<double>()) / time.at("scale").get<double>();
  result.after = fit_network({network.at("dense_ms").get<double>(), layers_ms(batch)},
                             {result.measured_ms, pruned_layers_ms});
  masked["constant_ms"] = result.after.constant_ms;
  masked["scale"] = result.after.scale;
  masked["calibrated"] = {
      {"run", folder}, {"predicted_ms", result.predicted_ms}, {"measured_ms", result.measured_ms}};
  return result;
}

}  // namespace

TimeCalibration calibrate(Json& table, const std::string& table_file, const std::string& folder) {
  const Json prune = read_json(folder + "/prune.json"), bench = read_json(folder + "/bench.json");
  try {
    return calibrated(table, table_file, prune, bench, folder);
  } catch (const Json::exception& error) {
    fail(ErrorCode::bad_file, table_file, ", ", folder,
         "/prune.json or bench.json: not as tune --table, prune and bench --json write them: ",
         error.what());
  }
}

}  // namespace winnow
