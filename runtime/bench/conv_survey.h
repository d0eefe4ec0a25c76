// Goes over the masks of convolutions on one GPU: what gpu_conv_bench and gpu_rival_bench share.
#pragma once

#include <cstddef>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "runtime/bench/conv_cases.h"
#include "runtime/bench/conv_lines.h"
#include "runtime/bench/gpu_bench.h"
#include "runtime/bench/layer_bench.h"
#include "runtime/gpu/vendor/gpu_context.h"

namespace winnow {

constexpr int kBenchSamples = 256;  // outputs compared with fp64

struct ConvSurveyOptions {
  int gpu = 0;
  std::string set = {};  // of layers
  std::string out = {};  // file; empty: stdout
  double seconds = 0;    // to begin something in; 0: no limit
  LayerBenchOptions bench = {};
};

// A layer at one batch size and precision, with the masks to measure.
struct ConvGroup {
  ConvLayer layer;
  std::vector<ConvMask> masks;
  SessionOptions session;

  ConvRun run_of(const ConvMask& mask) const;
};

class ConvSurvey {
 public:
  using Lines = std::vector<nlohmann::ordered_json>;
  using Measure = std::function<Lines(const ConvGroup&, const ConvMask&, DenseBench&)>;

  // Writes the line that says on what and how it measures. Throws Error{device} without a GPU,
  // Error{bad_file} where the file cannot be read or written.
  explicit ConvSurvey(const ConvSurveyOptions& options);
  ConvSurvey(const ConvSurvey&) = delete;
  ConvSurvey& operator=(const ConvSurvey&) = delete;

  const BenchPlace& place() const { return place_; }

  // Writes what `measure` returns for each mask whose lines the file does not have, while there is
  // time. The group's dense kernels are made once.
  void run(const ConvGroup& group, const Measure& measure);

  // Says on stderr how many masks of layers the time was too short for.
  void finish(const std::string& program) const;

 private:
  ConvSurveyOptions options_;
  GpuContext gpu_;
  SmClock clock_;
  BenchPlace place_;
  ConvLines lines_;
  Deadline deadline_;
  std::size_t left_ = 0;
};

}  // namespace winnow
