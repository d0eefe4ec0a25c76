#include "prune/run/checkpoint.h"

#include <nlohmann/json.hpp>

#include "runtime/base/checksum.h"
#include "runtime/base/error.h"
#include "runtime/model/safetensors.h"

namespace winnow {
namespace {

using Json = nlohmann::json;

constexpr char kStateKey[] = "winnow.checkpoint";
constexpr char kChecksumKey[] = "winnow.checksum";
constexpr int kVersion = 8;
constexpr char kIntegers[] = "evolution.integers";
constexpr char kNumbers[] = "evolution.numbers";

std::string snapshot_prefix(std::size_t index) {
  return "pool." + std::to_string(index) + ".";
}
constexpr char kCurrentPrefix[] = "current.";

void add_snapshot(const Snapshot& snapshot, const std::string& prefix, const TorchTrainee& trainee,
                  SafetensorsFile& file) {
  for (auto& [name, tensor] : trainee.write_snapshot(snapshot)) {
    file.tensors[prefix + name] = tensor;
  }
}

std::shared_ptr<const Snapshot> take_snapshot(SafetensorsFile& file, const std::string& prefix,
                                              const std::string& path,
                                              const TorchTrainee& trainee) {
  std::map<std::string, Tensor> tensors;
  for (auto it = file.tensors.lower_bound(prefix);
       it != file.tensors.end() && it->first.starts_with(prefix);) {
    tensors[it->first.substr(prefix.size())] = std::move(it->second);
    it = file.tensors.erase(it);
  }
  if (tensors.empty()) return nullptr;
  return trainee.read_snapshot(tensors, path + ": " + prefix);
}

template <typename T>
Tensor as_tensor(const std::vector<T>& values) {
  return Tensor::from<T>({static_cast<std::int64_t>(values.size())}, values);
}

template <typename T>
std::vector<T> as_vector(const SafetensorsFile& file, const char* name, const std::string& path) {
  const auto found = file.tensors.find(name);
  if (found == file.tensors.end() || found->second.type() != data_type_of<T>()) {
    fail(ErrorCode::bad_file, path, ": tensor '", name, "' is missing or of another type");
  }
  const auto values = found->second.values<T>();
  return {values.begin(), values.end()};
}

Json rounds_json(const TimeRounds& rounds) {
  Json measured = Json::array();
  for (const TimeMeasurement& one : rounds.measured) {
    measured.push_back({{"is_pruned", one.is_pruned},
                        {"predicted_ms", one.predicted_ms},
                        {"measured_ms", one.measured_ms},
                        {"layers_ms", one.layers_ms},
                        {"constant_ms", one.fit.constant_ms},
                        {"scale", one.fit.scale},
                        {"is_followed", one.is_followed}});
  }
  return {{"measured", measured}, {"begun_again", rounds.begun_again}};
}

TimeRounds rounds_from(const Json& json) {
  TimeRounds rounds;
  for (const Json& one : json.at("measured")) {
    rounds.measured.push_back({.is_pruned = one.at("is_pruned"),
                               .predicted_ms = one.at("predicted_ms"),
                               .measured_ms = one.at("measured_ms"),
                               .layers_ms = one.at("layers_ms"),
                               .fit = {one.at("constant_ms"), one.at("scale")},
                               .is_followed = one.at("is_followed")});
  }
  json.at("begun_again").get_to(rounds.begun_again);
  return rounds;
}

Json header(const RunCheckpoint& checkpoint, std::size_t snapshots) {
  return {{"version", kVersion},
          {"weights_checksum", checkpoint.weights_checksum},
          {"teacher_checksum", checkpoint.teacher_checksum},
          {"phase", checkpoint.phase == RunPhase::dense ? "dense" : "evolution"},
          {"batch", checkpoint.batch},
          {"epoch", checkpoint.epoch},
          {"epoch_loss", checkpoint.epoch_loss},
          {"metrics_bytes", checkpoint.metrics_bytes},
          {"dense_seconds", checkpoint.dense_seconds},
          {"prune_seconds", checkpoint.prune_seconds},
          {"dense_accuracy", checkpoint.dense_accuracy},
          {"granularities", checkpoint.granularities},
          {"rounds", rounds_json(checkpoint.rounds)},
          {"snapshots", snapshots},
          {"config", checkpoint.config}};
}

// The header's fields; `snapshots` is their number.
RunCheckpoint from_header(const std::string& text, const std::string& path,
                          std::size_t& snapshots) {
  try {
    const Json json = Json::parse(text);
    if (json.at("version") != kVersion) {
      fail(ErrorCode::bad_file, path, ": checkpoint version ", json.at("version").dump(),
           ", this program reads ", kVersion, "; begin anew with --overwrite");
    }
    RunCheckpoint checkpoint;
    json.at("weights_checksum").get_to(checkpoint.weights_checksum);
    json.at("teacher_checksum").get_to(checkpoint.teacher_checksum);
    checkpoint.phase = json.at("phase") == "dense" ? RunPhase::dense : RunPhase::evolution;
    json.at("batch").get_to(checkpoint.batch);
    json.at("epoch").get_to(checkpoint.epoch);
    json.at("epoch_loss").get_to(checkpoint.epoch_loss);
    json.at("metrics_bytes").get_to(checkpoint.metrics_bytes);
    json.at("dense_seconds").get_to(checkpoint.dense_seconds);
    json.at("prune_seconds").get_to(checkpoint.prune_seconds);
    json.at("dense_accuracy").get_to(checkpoint.dense_accuracy);
    json.at("granularities").get_to(checkpoint.granularities);
    checkpoint.rounds = rounds_from(json.at("rounds"));
    json.at("snapshots").get_to(snapshots);
    json.at("config").get_to(checkpoint.config);
    return checkpoint;
  } catch (const Json::exception& error) {
    fail(ErrorCode::bad_file, path, ": damaged checkpoint state: ", error.what());
  }
}

void take_granularities(const RunCheckpoint& checkpoint, const std::string& path,
                        TorchTrainee& trainee) {
  if (checkpoint.granularities.empty()) return;
  if (checkpoint.granularities.size() != trainee.layers().size()) {
    fail(ErrorCode::bad_file, path, ": granularities of ", checkpoint.granularities.size(),
         " layers, expected ", trainee.layers().size());
  }
  for (const std::int64_t vector : checkpoint.granularities) {
    if (vector == 1 || vector == 8 || vector == 16 || vector == 32) continue;
    fail(ErrorCode::bad_file, path, ": granularities: found ", vector, ", expected 1, 8, 16 or 32");
  }
  trainee.set_granularities(checkpoint.granularities);
}

// CRC-32C of all else in the file: the state, and of every tensor the name and the values.
std::string checksum_of(const SafetensorsFile& file) {
  const auto bytes = [](const std::string& text) { return std::as_bytes(std::span(text)); };
  std::uint32_t sum = crc32c(bytes(file.metadata.at(kStateKey)));
  for (const auto& [name, tensor] : file.tensors) {
    sum = crc32c(tensor.bytes(), crc32c(bytes(name), sum));
  }
  return std::to_string(sum);
}

void require_checksum(const SafetensorsFile& file, const std::string& path) {
  const auto found = file.metadata.find(kChecksumKey);
  const std::string written = found == file.metadata.end() ? "none" : found->second;
  const std::string expected = checksum_of(file);
  if (written == expected) return;
  fail(ErrorCode::bad_file, path, ": damaged: found checksum ", written, ", its content has ",
       expected, "; begin anew with --overwrite");
}

}  // namespace

void write_checkpoint(const std::string& path, const RunCheckpoint& checkpoint,
                      const TorchTrainee& trainee) {
  SafetensorsFile file;
  const bool has_begun = !checkpoint.evolution.pool.empty();
  const FlatState flat = has_begun ? flatten(checkpoint.evolution) : FlatState{};
  file.metadata[kStateKey] = header(checkpoint, flat.snapshots.size()).dump();
  file.tensors[kIntegers] = as_tensor(flat.integers);
  file.tensors[kNumbers] = as_tensor(flat.numbers);
  for (std::size_t i = 0; i < flat.snapshots.size(); ++i) {
    add_snapshot(*flat.snapshots[i], snapshot_prefix(i), trainee, file);
  }
  if (checkpoint.current) add_snapshot(*checkpoint.current, kCurrentPrefix, trainee, file);
  file.metadata[kChecksumKey] = checksum_of(file);
  write_safetensors(path, file);
}

RunCheckpoint read_checkpoint(const std::string& path, TorchTrainee& trainee) {
  SafetensorsFile file = read_safetensors(path);
  const auto state = file.metadata.find(kStateKey);
  if (state == file.metadata.end()) {
    fail(ErrorCode::bad_file, path, ": is no checkpoint of prune (no '", kStateKey, "')");
  }
  std::size_t snapshots = 0;
  RunCheckpoint checkpoint = from_header(state->second, path, snapshots);
  require_checksum(file, path);
  take_granularities(checkpoint, path, trainee);
  FlatState flat = {.integers = as_vector<std::int64_t>(file, kIntegers, path),
                    .numbers = as_vector<double>(file, kNumbers, path),
                    .snapshots = {}};
  for (std::size_t i = 0; i < snapshots; ++i) {
    auto snapshot = take_snapshot(file, snapshot_prefix(i), path, trainee);
    if (!snapshot)
      fail(ErrorCode::bad_file, path, ": snapshot ", i, " of ", snapshots, " is missing");
    flat.snapshots.push_back(std::move(snapshot));
  }
  checkpoint.current = take_snapshot(file, kCurrentPrefix, path, trainee);
  if (!flat.integers.empty()) checkpoint.evolution = unflatten(flat);
  return checkpoint;
}

}  // namespace winnow
