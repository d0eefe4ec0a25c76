// Where a run stands, as one safetensors file: all that --resume needs.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "prune/evolution/evolution_state.h"
#include "prune/timing/time_rounds.h"
#include "prune/training/torch_trainee.h"

namespace winnow {

enum class RunPhase { dense, evolution };

struct RunCheckpoint {
  std::string config;  // the resolved configuration, without what may differ (comparable_config)
  std::uint32_t weights_checksum = 0;  // CRC-32C of the file of model.weights; 0 without one
  std::uint32_t teacher_checksum = 0;  // of that of prune.teacher
  RunPhase phase = RunPhase::dense;
  std::int64_t batch = 0;   // dense: the next one
  std::int64_t epoch = 0;   // dense: epochs whose line of the metrics is written
  double epoch_loss = 0.0;  // dense: sum of the losses of the batches of the epoch after them
  std::int64_t metrics_bytes = 0;
  double dense_seconds = 0.0;
  double prune_seconds = 0.0;
  double dense_accuracy = 0.0;  // on the test images, once the dense phase is over
  // The network now; in the evolution only before its first iteration, which starts from it.
  std::shared_ptr<const Snapshot> current;
  std::vector<std::int64_t> granularities;  // mixed: [layers], once they are chosen
  TimeRounds rounds;                        // of a budget of time
  EvolutionState evolution;                 // without a pool: not begun
};

// Atomic. Snapshots that several solutions share are stored once.
void write_checkpoint(const std::string& path, const RunCheckpoint& checkpoint,
                      const TorchTrainee& trainee);

// The trainee takes the granularities that were chosen. Throws Error{bad_file} if the file is
// damaged or does not fit the trainee.
RunCheckpoint read_checkpoint(const std::string& path, TorchTrainee& trainee);

}  // namespace winnow
