#include "runtime/bench/gpu_bench.h"

#include <CLI/CLI.hpp>
#include <cstdio>

#include "runtime/cli/program.h"

namespace winnow {

void add_gpu_bench_options(CLI::App& app, GpuBenchOptions& options) {
  app.add_option("--batch", options.batches, "Batch sizes")->delimiter(',')->capture_default_str();
  app.add_option("--precision", options.precisions, "f32, tf32, f16")
      ->delimiter(',')
      ->check(CLI::IsMember({"f32", "tf32", "f16"}))
      ->capture_default_str();
  app.add_option("--vector", options.vectors, "Output channels that share a mask bit")
      ->delimiter(',')
      ->check(CLI::IsMember({1, 8, 16, 32}))
      ->capture_default_str();
  app.add_option("--gpu", options.gpu, "CUDA device number")->capture_default_str();
}

SessionOptions bench_session(const GpuBenchOptions& options, std::int64_t batch,
                             const std::string& precision) {
  return {.batch = batch,
          .precision = precision == "f16" ? Precision::f16 : Precision::f32,
          .gpu = options.gpu,
          .use_tf32 = precision == "tf32",
          .all_plans = true};
}

void add_lines_options(CLI::App& app, std::string& out, double& seconds) {
  app.add_option("--out", out, "Append lines to this file, and leave out what it has already");
  app.add_option("--seconds", seconds, "Begin nothing further after this time")
      ->check(CLI::PositiveNumber);
}

void report_left(const std::string& program, std::size_t masks, double seconds) {
  if (masks == 0) return;
  std::fprintf(stderr, "%s: %zu masks of layers are left after %g seconds\n", program.c_str(),
               masks, seconds);
}

int gpu_bench_main(CLI::App& app, int argc, const char* const* argv,
                   const std::function<int()>& run) {
  return run_program(app.get_name(), [&] {
    if (const auto status = parse_command_line(app, argc, argv)) return *status;
    return run();
  });
}

}  // namespace winnow
