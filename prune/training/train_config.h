// How a network is trained: `train:` of a configuration and what the pruning stages take from it.
#pragma once

#include <cstdint>

#include "prune/training/steps/schedule.h"

namespace winnow {

// Number formats of activations and gradients; weights and their updates are always fp32.
enum class TrainingPrecision { automatic, fp32, bf16 };  // automatic: bf16 on a GPU, else fp32

// How much of the loss is a teacher's (teacher.h), and at which temperature.
struct Distillation {
  double weight = 0.0;  // 0: no teacher
  double temperature = 4.0;
};

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
  bool records_steps = true;      // on a GPU a step is recorded as a CUDA graph and launched again
  bool fuses_kernels = true;      // on a GPU steps use kernels of our own (module_kernels.h)
  bool is_data_parallel = false;  // several processes divide each batch
  std::int64_t validate_every = 10;  // epochs between measurements
  // Of the running mean of weights and statistics that is measured and written in their place
  // (weight_average.h); 0: none.
  double ema_decay = 0.0;
};

}  // namespace winnow
