#include "prune/layer_trials.h"

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "prune/config/json_value.h"
#include "runtime/base/error.h"
#include "runtime/base/file.h"
#include "runtime/base/first_difference.h"

namespace winnow {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kUnfit = -1.0;
constexpr std::size_t kLargest = 64 << 20;  // bytes of a file

LayerTrial read_trial(const JsonValue& json) {
  LayerTrial trial;
  for (const JsonValue& name : json.at("removed").list()) trial.removed.push_back(name.text());
  if (const JsonValue reason = json.at("not_trained"); reason.is_there()) {
    trial.reason = reason.text();
    return trial;
  }
  const JsonValue kept = json.at("kept");
  trial.cost = (kept.is_there() ? kept : json.at("predicted_ms")).number(-1.0, 1e18, "a number");
  trial.accuracy = json.at("accuracy").number(-1.0, 1.0, "a share");
  return trial;
}

// A discarded value if it is no JSON.
nlohmann::json read_json(const std::string& path) {
  return nlohmann::json::parse(read_text_file(path, kLargest), nullptr, false);
}

bool is_of_search(const nlohmann::json& json) {
  return json.is_object() && json.value("mode", nlohmann::json()) == "search";
}

}  // namespace

double LayerTrial::fitness() const {
  return reason.empty() ? accuracy : kUnfit;
}

Json trial_json(const LayerTrial& trial, bool is_time) {
  Json json = {{"removed", trial.removed}};
  if (!trial.reason.empty()) {
    json["not_trained"] = trial.reason;
    return json;
  }
  if (is_time) {
    json["predicted_ms"] = trial.cost;
  } else {
    json["kept"] = std::llround(trial.cost);
  }
  json["accuracy"] = trial.accuracy;
  return json;
}

EarlierTrials read_trials(const std::string& path, const std::string& settings) {
  const nlohmann::json json = read_json(path);
  if (!is_of_search(json)) {
    fail(ErrorCode::bad_file, path,
         ": no trials of a search, expected what prune --search-layers --json writes");
  }
  const JsonValue file(path, json, "");
  const std::string there = file.at("settings").text();
  if (there != settings) {
    fail(ErrorCode::usage, path,
         ": is of a search with other settings: ", first_difference(there, settings));
  }
  EarlierTrials earlier{.trials = {}, .device = file.at("device").text()};
  for (const JsonValue& trial : file.at("trials").list()) {
    earlier.trials.push_back(read_trial(trial));
  }
  return earlier;
}

void require_no_trials(const std::string& path) {
  if (!std::filesystem::is_regular_file(path)) return;
  const nlohmann::json json = read_json(path);
  if (!is_of_search(json)) return;
  fail(ErrorCode::usage, path, ": has trials of a search; --resume goes on, --overwrite replaces");
}

}  // namespace winnow
