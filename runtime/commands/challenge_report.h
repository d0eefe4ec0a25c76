// What `runtime challenge run` has found, as a table and as JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/bench/statistics.h"
#include "runtime/challenge/compare.h"
#include "runtime/challenge/engine.h"

namespace winnow {

// One of several processes that divided the images.
struct RankReport {
  std::string machine;
  std::string device;
  std::size_t peak_gpu_bytes = 0;
};

struct ChallengeReport {
  // What ran.
  std::string network;
  std::uint32_t neurons = 0;
  std::uint32_t first_layer = 0, last_layer = 0;  // from 0, last one excluded
  std::uint64_t connections = 0;                  // of these layers, before any folding
  std::uint32_t first_image = 0, last_image = 0;
  std::string engine;
  challenge::EngineOptions options;
  std::uint32_t warm_up = 0;

  // What the engine says of itself.
  std::string device;
  challenge::DeviceClocks clocks;
  std::string kernel;
  std::string discovery;
  double prepare_ms = 0;
  double load_ms = 0;  // to read layers and make them ready: preparation, and all else before it
  std::size_t peak_gpu_bytes = 0;  // the most that buffers took, on all GPUs together
  std::vector<RankReport> ranks;   // empty: one process

  // What came out.
  std::vector<challenge::RunTimes> runs;
  bool includes_transfer = false;
  std::uint32_t survivors = 0;
  std::string categories_sha256;    // challenge::categories_sha256()
  std::vector<std::uint32_t> live;  // as Engine::live()
  std::string truth;                // file; empty if there was none
  std::optional<challenge::CategoryComparison> comparison;

  std::uint32_t images() const { return last_image - first_image; }

  // Images x connections, as the challenge counts: also those of dead images and zero activations.
  double edges() const;

  // Of the time that the rate is computed from.
  Statistics counted_ms() const;
  double tera_edges_per_second() const;  // at the median; 0 if that is 0
};

// `baseline` is what another engine made of the same work, or null; its comparison is with
// `report`.
std::string report_table(const ChallengeReport& report, const ChallengeReport* baseline);
std::string report_json(const ChallengeReport& report, const ChallengeReport* baseline);

}  // namespace winnow
