// The subcommands of the runtime program. Each adds its options to `app` and returns what runs it.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "runtime/engine.h"

namespace CLI {
class App;
}  // namespace CLI

namespace winnow {

using Command = std::function<int()>;  // returns the exit status

Command add_run_command(CLI::App& app);      // classify pictures or a data set
Command add_bench_command(CLI::App& app);    // dense against sparse
Command add_inspect_command(CLI::App& app);  // what is in a model file
Command add_verify_command(CLI::App& app);   // every layer against the reference
Command add_tune_command(CLI::App& app);     // measured times for the cache, or as a table
Command add_doctor_command(CLI::App& app);   // what this machine and build can do
Command add_report_command(CLI::App& app);   // a run folder as a table and a page

Command add_challenge_command(CLI::App& app);  // the Sparse DNN Graph Challenge (challenge.h)

// Options that several commands share.
struct ModelOptions {
  std::string model;
  std::string device = "auto";
  std::string precision = "f32";
  std::string choice = "measured";
  std::string family;
  int threads = 0;
  int sub_batch = 0;
  bool use_tf32 = false;
  bool all_plans = false;
  std::uint64_t max_model_bytes = kDefaultModelBytes;
  std::string cache;  // folder of the cache of timings; empty: none
  bool is_quiet = false;
  std::string json;  // path, "-" for stdout
};
void add_model_options(CLI::App& app, ModelOptions& options);

// Throws Error{usage} unless --json can be written and is not the model itself.
void check_json_place(const ModelOptions& options);

// --choice, for commands that run one plan; `bench` runs all three.
void add_choice_option(CLI::App& app, ModelOptions& options);

// --max-model-bytes, which add_model_options has too.
void add_limit_option(CLI::App& app, std::uint64_t& max_model_bytes);

// The cache of timings in the folder that --cache names, or null. tell_of() prints what was wrong
// with it, if anything, on stderr: one line, when a command has used it.
std::shared_ptr<TimingCache> open_cache(const ModelOptions& options);
void tell_of(const std::shared_ptr<TimingCache>& cache);

// Both show progress on stderr. `label` begins its lines: "bench". session_options throws
// Error{usage} for names that are not known.
OpenOptions open_options(const ModelOptions& options, const std::string& label);
SessionOptions session_options(const ModelOptions& options, std::int64_t batch,
                               const std::string& label, std::shared_ptr<TimingCache> cache);

}  // namespace winnow
