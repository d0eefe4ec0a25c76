// prune.json: what a run came to.
#pragma once

#include <map>
#include <string>

#include "prune/evolution/evolution_result.h"
#include "prune/prune_program.h"
#include "runtime/model/model.h"

namespace winnow {

struct SummaryParts {
  const RunConfig& config;
  const Model& model;  // the pruned one
  const EvolutionResult& result;
  const PruneSummary& summary;
  std::string device;
  double dense_seconds = 0.0;
  double prune_seconds = 0.0;
};

// Deterministic but for the seconds.
std::string summary_json(const SummaryParts& parts);

// Writes it as the run's last file and removes the checkpoint, which nobody needs any more.
void write_summary(const RunFolder& folder, const std::string& json);

// Adds the versions of Winnow and LibTorch.
void add_versions(std::map<std::string, std::string>& metadata);

}  // namespace winnow
