#include <CLI/CLI.hpp>
#include <cstdio>
#include <utility>

#include "runtime/base/error.h"
#include "runtime/base/output_path.h"
#include "runtime/base/suggest.h"
#include "runtime/base/thread_pool.h"
#include "runtime/cli/number_checks.h"
#include "runtime/cli/progress.h"
#include "runtime/commands/commands.h"

namespace winnow {
namespace {

KernelChoice choice_from(const std::string& name) {
  if (name == "measured") return KernelChoice::measured;
  if (name == "sparse") return KernelChoice::sparse;
  if (name == "dense") return KernelChoice::dense;
  const std::vector<std::string> known = {"measured", "sparse", "dense"};
  fail(ErrorCode::usage, "--choice '", name, "' is not known", suggestion(name, known));
}

Precision precision_from(const std::string& name) {
  if (name == "f32") return Precision::f32;
  if (name == "f16") return Precision::f16;
  const std::vector<std::string> known = {"f32", "f16"};
  fail(ErrorCode::usage, "--precision '", name, "' is not known", suggestion(name, known));
}

}  // namespace

void add_model_options(CLI::App& app, ModelOptions& options) {
  app.add_option("model", options.model, "Model file (.wnw) written by export")->required();
  app.add_option("--device", options.device, "auto, cpu, cuda or cuda:N")->capture_default_str();
  app.add_option("--precision", options.precision, "f32 or f16 (GPU)")->capture_default_str();
  app.add_option("--family", options.family, "Only this kernel family, for example direct");
  app.add_option("--threads", options.threads, "CPU threads, 0 for all cores")
      ->check(whole_number(0, ThreadPool::kMostThreads))
      ->capture_default_str();
  app.add_option(
         "--sub-batch", options.sub_batch,
         "GPU: images per thread of direct, per warp of sparse_linear: 1, 2, 4, 8; 0 measures")
      ->check(CLI::IsMember({0, 1, 2, 4, 8}))
      ->capture_default_str();
  app.add_flag("--tf32", options.use_tf32,
               "GPU, f32: cuDNN and cuBLASLt may round their inputs to TF32");
  app.add_flag("--all-plans", options.all_plans,
               "GPU: try every plan that cuDNN and cuBLASLt propose, not only the first");
  app.add_option("--cache", options.cache,
                 "Folder that keeps measured times, so that a later start takes none")
      ->envname("WINNOW_CACHE")
      ->type_name("DIR");
  add_limit_option(app, options.max_model_bytes);
  app.add_flag("--quiet", options.is_quiet, "No progress on stderr");
  app.add_option("--json", options.json, "Write results as JSON to this file ('-': stdout)");
}

void check_json_place(const ModelOptions& options) {
  require_distinct_outputs(
      {.inputs = {options.model}, .outputs = {}, .own = {}, .json = options.json});
}

void add_limit_option(CLI::App& app, std::uint64_t& max_model_bytes) {
  app.add_option("--max-model-bytes", max_model_bytes,
                 "Memory that weights and activations may take, for example 20GB; a file that asks "
                 "for more is refused")
      ->transform(byte_size(1))
      ->default_str("8GB");
}

void add_choice_option(CLI::App& app, ModelOptions& options) {
  app.add_option("--choice", options.choice, "measured (fastest per layer), sparse or dense")
      ->capture_default_str();
}

std::shared_ptr<TimingCache> open_cache(const ModelOptions& options) {
  if (options.cache.empty()) return nullptr;
  require_text_path(options.cache);
  return std::make_shared<TimingCache>(options.cache);
}

void tell_of(const std::shared_ptr<TimingCache>& cache) {
  const std::string notice = cache ? cache->notice() : "";
  if (!notice.empty()) std::fprintf(stderr, "runtime: %s\n", one_line(notice).c_str());
}

OpenOptions open_options(const ModelOptions& options, const std::string& label) {
  return {options.max_model_bytes, progress_callback(label + ": read weight", options.is_quiet)};
}

SessionOptions session_options(const ModelOptions& options, std::int64_t batch,
                               const std::string& label, std::shared_ptr<TimingCache> cache) {
  SessionOptions session;
  session.timings.cache = std::move(cache);
  session.progress = progress_callback(label + ": plan step", options.is_quiet);
  session.batch = batch;
  session.precision = precision_from(options.precision);
  session.choice = choice_from(options.choice);
  session.family = options.family;
  session.threads = options.threads;
  session.sub_batch = options.sub_batch;
  session.use_tf32 = options.use_tf32;
  session.all_plans = options.all_plans;
  return session;
}

}  // namespace winnow
