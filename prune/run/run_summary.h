// prune.json: what a run came to.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "prune/evolution/evolution_result.h"
#include "prune/prune_program.h"
#include "prune/timing/time_rounds.h"
#include "runtime/model/model.h"

namespace winnow {

struct SummaryParts {
  const RunConfig& config;
  const Model& model;  // the pruned one
  const EvolutionResult& result;
  const PruneSummary& summary;
  const TimeRounds& rounds;                        // of a budget of time
  const std::vector<std::int64_t>& granularities;  // mixed: [layers]; else empty
  const std::vector<Solution>& pool;               // at the end
  const std::vector<PrunableLayer>& layers;
  std::string device;
  std::int64_t peak_gpu_bytes = 0;  // 0: no GPU
  double dense_seconds = 0.0;
  double prune_seconds = 0.0;
};

// What the closed loop of a budget of time came to: `time`, `notice`, and that the target is not
// met where the network is slower than it by more than the tolerance.
void note_time(const RunConfig& config, const TimeRounds& rounds, PruneSummary& summary);

// Deterministic but for the seconds, and what is measured in them.
std::string summary_json(const SummaryParts& parts);

// Writes it as the run's last file and removes the checkpoint, which nobody needs any more.
void write_summary(const RunFolder& folder, const std::string& json);

// Adds the versions of Winnow and LibTorch.
void add_versions(std::map<std::string, std::string>& metadata);

}  // namespace winnow
