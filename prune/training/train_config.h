// How a network is trained: `train:` of a configuration and what the pruning stages take from it.
#pragma once

#include <cstdint>

#include "prune/training/schedule.h"

namespace winnow {

// Number formats of activations and gradients; weights and their updates are always fp32.
enum class TrainingPrecision { automatic, fp32, bf16 };  // automatic: bf16 on a GPU, else fp32

struct TrainConfig {
  std::int64_t epochs = 60;  // of the dense baseline; 0: none
  std::int64_t batch_size = 256;
  RateSchedule rate = {.rate = 0.1, .warmup = 1.0};  // times in epochs
  double momentum = 0.9;
  bool is_nesterov = true;
  double weight_decay = 5e-4;
  bool decays_norms_and_biases = false;
  double label_smoothing = 0.0;
  double clip_norm = 0.0;  // gradients are scaled down to this norm; 0: never
  TrainingPrecision precision = TrainingPrecision::automatic;
  bool is_channels_last = true;
  bool records_steps = true;  // on a GPU a step is recorded as a CUDA graph and launched again
  std::int64_t validate_every = 10;  // epochs between measurements
};

}  // namespace winnow
