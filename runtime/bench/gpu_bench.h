// What the benchmark programs for the GPU share: options and the way they end.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "runtime/plan/session.h"

namespace CLI {
class App;
}  // namespace CLI

namespace winnow {

struct GpuBenchOptions {
  std::vector<std::int64_t> batches;
  std::vector<std::string> precisions = {"f16", "f32"};
  std::vector<int> vectors;  // channels that share a mask bit
  int gpu = 0;
};
void add_gpu_bench_options(CLI::App& app, GpuBenchOptions& options);

// The options of a session of that precision; "tf32" is f32 with TF32 allowed. Dense baselines try
// every plan that the libraries propose.
SessionOptions bench_session(const GpuBenchOptions& options, std::int64_t batch,
                             const std::string& precision);

// --out and --seconds, for programs that measure case by case.
void add_lines_options(CLI::App& app, std::string& out, double& seconds);

class Deadline {
 public:
  explicit Deadline(double seconds) : seconds_(seconds), begin_(Clock::now()) {}

  // Whether so many seconds have passed; never for 0.
  bool is_over() const {
    const std::chrono::duration<double> passed = Clock::now() - begin_;
    return seconds_ > 0 && passed.count() > seconds_;
  }

 private:
  using Clock = std::chrono::steady_clock;
  double seconds_;
  Clock::time_point begin_;
};

// Says on stderr how many masks of layers the time was too short for; nothing for none.
void report_left(const std::string& program, std::size_t masks, double seconds);

// Parses the command line, calls `run` and returns the exit status as run_program() does.
int gpu_bench_main(CLI::App& app, int argc, const char* const* argv,
                   const std::function<int()>& run);

}  // namespace winnow
