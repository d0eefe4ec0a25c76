// What `runtime challenge run` is asked for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "runtime/challenge/engine.h"

namespace CLI {
class App;
}  // namespace CLI

namespace winnow {

struct ChallengeRunOptions {
  std::string folder;
  std::string engine = "cpu", baseline;
  std::uint32_t neurons = 0, layers = 0;
  std::uint32_t first_layer = 0, last_layer = 0;  // 0: to the end
  std::string images;                             // "N" or "A:B"; empty for all
  std::optional<float> bias;
  std::string truth, categories, json;
  std::optional<std::uint32_t> repeats, warm_up;
  bool includes_transfer = false;
  bool is_quiet = false;
  challenge::EngineOptions engine_options;
  bool has_no_half = false;
  bool has_gpu = false;  // --gpu or --gpus is given
  std::string gather;    // of several processes: "nccl", "tcp" or empty: what fits the engine
};

// Adds all options of the command to `app`.
void add_challenge_run_options(CLI::App& app, ChallengeRunOptions& options);

}  // namespace winnow
