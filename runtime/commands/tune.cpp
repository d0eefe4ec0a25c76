#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "runtime/base/error.h"
#include "runtime/base/file.h"
#include "runtime/base/joined_kernel.h"
#include "runtime/base/number_text.h"
#include "runtime/base/output_path.h"
#include "runtime/base/suggest.h"
#include "runtime/base/version.h"
#include "runtime/bench/compare.h"
#include "runtime/bench/layer_survey.h"
#include "runtime/bench/time_calibration.h"
#include "runtime/cli/interrupt.h"
#include "runtime/cli/number_checks.h"
#include "runtime/cli/program.h"
#include "runtime/cli/progress.h"
#include "runtime/cli/table.h"
#include "runtime/commands/commands.h"
#include "runtime/plan/plan_json.h"

namespace winnow {
namespace {

using Json = nlohmann::ordered_json;
using Callback = std::function<void(std::size_t, std::size_t)>;

struct TuneOptions {
  ModelOptions model;
  std::vector<std::int64_t> batches = {1, 8, 32, 128};
  bool is_renewed = false;
  bool has_no_channels = false;
  std::string table;
  std::string calibrated_by;  // a run folder; empty: the table is measured
  SurveyOptions survey;
};

// `progress`, which ends the work between two measurements where the user wants it.
Callback interruptible(Callback progress, const std::string& message) {
  return [progress = std::move(progress), message](std::size_t done, std::size_t all) {
    if (InterruptGuard::requested()) fail(ErrorCode::interrupted, message);
    if (progress) progress(done, all);
  };
}

// What was timed for the kernel that runs, and the fastest of the others that have a time of their
// own; null where there is none.
const CandidateTiming* timing_of(const LayerPlan& layer, bool is_chosen) {
  const auto found = std::ranges::find_if(layer.candidates, [&](const CandidateTiming& one) {
    if (!one.rejected.empty() || (one.kernel == layer.kernel) != is_chosen) return false;
    return is_chosen || !is_timed_later(one.kernel, one.ms);
  });
  return found == layer.candidates.end() ? nullptr : &*found;
}

Json layer_json(const LayerPlan& layer) {
  Json json = {{"name", layer.name},
               {"op", layer.op},
               {"family", layer.family},
               {"kernel", layer.kernel},
               {"kernels_timed", layer.candidates.size()},
               {"rejected", Json::array()}};
  if (const CandidateTiming* chosen = timing_of(layer, true)) {
    json["ms"] = chosen->ms;
    json["min_ms"] = chosen->min_ms;
    if (chosen->cold_ms > 0) json["cold_ms"] = chosen->cold_ms;
  }
  if (const CandidateTiming* next = timing_of(layer, false)) {
    json["runner_up"] = {{"family", next->family}, {"kernel", next->kernel}, {"ms", next->ms}};
  }
  for (const CandidateTiming& candidate : layer.candidates) {
    if (candidate.rejected.empty()) continue;
    json["rejected"].push_back({{"family", candidate.family},
                                {"kernel", candidate.kernel},
                                {"reason", candidate.rejected}});
  }
  return json;
}

// A row for each layer, and a line for each kernel that was rejected.
std::string layers_table(const std::vector<LayerPlan>& layers) {
  constexpr auto kRight = Table::Side::right;
  Table table({{"layer"},
               {"op"},
               {"ms", kRight},
               {"cold ms", kRight},
               {"kernel"},
               {"next ms", kRight},
               {"runner-up"}});
  std::string rejected;
  for (const LayerPlan& layer : layers) {
    const CandidateTiming* chosen = timing_of(layer, true);
    const CandidateTiming* next = timing_of(layer, false);
    table.add({layer.name, layer.op, chosen ? fixed(chosen->ms, 4) : "-",
               chosen && chosen->cold_ms > 0 ? fixed(chosen->cold_ms, 4) : "-", layer.kernel,
               next ? fixed(next->ms, 4) : "", next ? next->kernel : ""});
    for (const CandidateTiming& candidate : layer.candidates) {
      if (candidate.rejected.empty()) continue;
      rejected +=
          "rejected for " + layer.name + ": " + candidate.kernel + " " + candidate.rejected + "\n";
    }
  }
  return table.text() + rejected;
}

// Plans the network as every `--choice` does, so that none has to measure any more. The choice by
// measurement is what is shown; another that the device cannot make is left out, as by `bench`.
std::unique_ptr<Session> plan_all(const DeployedModel& model, Device device, SessionOptions how) {
  auto session = make_session(model, device, how);
  how.timings.is_renewed = false;
  how.progress = interruptible(nullptr, "interrupted");
  for (const KernelChoice choice : {KernelChoice::dense, KernelChoice::sparse}) {
    how.choice = choice;
    if (choice == KernelChoice::dense) how.family.clear();
    try {
      make_session(model, device, how);
    } catch (const Error& error) {
      if (error.code() == ErrorCode::interrupted) throw;
    }
  }
  return session;
}

Json head_json(const TuneOptions& options, const std::string& device) {
  return {{"command", "tune"},
          {"version", version_text()},
          {"model", options.model.model},
          {"device", device},
          {"precision", options.model.precision},
          {"tf32", options.model.use_tf32}};
}

int fill_cache(const TuneOptions& options, const DeployedModel& model,
               const std::shared_ptr<TimingCache>& cache) {
  const std::string message = "interrupted: what was measured is kept in " + cache->path();
  std::FILE* people = options.model.json == "-" ? stderr : stdout;
  std::string device;
  Json batches = Json::array();
  for (const std::int64_t batch : options.batches) {
    const std::string label = "tune: batch " + std::to_string(batch);
    SessionOptions how = session_options(options.model, batch, label, cache);
    how.timings.wants_cold = true;
    how.timings.lists_candidates = true;
    how.timings.is_renewed = options.is_renewed;
    how.progress = interruptible(how.progress, message);
    const auto session = plan_all(model, device_from(options.model.device), how);
    const TimingCounts counts = session->timing_counts();
    device = session->device();
    std::fprintf(people, "device %s, batch %lld: %zu times measured, %zu from the cache\n%s\n",
                 device.c_str(), static_cast<long long>(batch), counts.measured, counts.cached,
                 layers_table(session->layers()).c_str());
    std::fflush(people);
    Json layers = Json::array();
    for (const LayerPlan& layer : session->layers()) layers.push_back(layer_json(layer));
    batches.push_back({{"batch", batch}, {"timings", counts_json(counts)}, {"layers", layers}});
  }
  tell_of(cache);
  Json json = head_json(options, device);
  json["cache"] = cache->path();
  json["batches"] = std::move(batches);
  write_json_output(options.model.json, json.dump(1));
  return 0;
}

int write_table(const TuneOptions& options, const DeployedModel& model,
                const std::shared_ptr<TimingCache>& cache) {
  const std::string message =
      cache ? "interrupted: what was measured is kept in " + cache->path() : "interrupted";
  std::string device;
  Json batches = Json::array();
  for (const std::int64_t batch : options.batches) {
    const std::string label = "tune: batch " + std::to_string(batch) + ": time mask";
    SurveyOptions survey = options.survey;
    survey.device = device_from(options.model.device);
    survey.session = session_options(options.model, batch, label, cache);
    survey.session.timings.is_renewed = options.is_renewed;
    survey.session.progress = interruptible(nullptr, message);
    survey.progress = interruptible(progress_callback(label, options.model.is_quiet), message);
    const Survey result = survey_layers(model, survey);
    device = result.device;
    std::printf("%s\n", survey_table(result).c_str());
    std::fflush(stdout);
    batches.push_back(survey_json(result));
  }
  tell_of(cache);
  Json json = head_json(options, device);
  json["format"] = kTimeTableFormat;
  json["seed"] = options.survey.seed;
  json["batches"] = std::move(batches);
  write_json_output(options.table, json.dump(1));
  return 0;
}

// Reads the table and writes it anew with the run's measured time.
int calibrate_table(const TuneOptions& options) {
  constexpr std::size_t kMaxBytes = std::size_t{64} << 20;
  Json table = Json::parse(read_text_file(options.table, kMaxBytes), nullptr, false);
  if (!table.is_object()) {
    fail(ErrorCode::bad_file, options.table,
         ": no table of times, expected what runtime tune --table writes");
  }
  const TimeCalibration found = calibrate(table, options.table, options.calibrated_by);
  write_json_output(options.table, table.dump(1));
  std::printf(
      "batch %lld, %s: predicted %.4f ms, measured %.4f ms (%+.1f %%)\n"
      "constant %.4f -> %.4f ms, scale %.4f -> %.4f\n",
      static_cast<long long>(found.batch), found.granularity.c_str(), found.predicted_ms,
      found.measured_ms, 100 * (found.measured_ms / found.predicted_ms - 1),
      found.before.constant_ms, found.after.constant_ms, found.before.scale, found.after.scale);
  return 0;
}

void sort_each_once(const char* option, std::vector<double>& numbers) {
  std::ranges::sort(numbers);
  const auto twice = std::ranges::adjacent_find(numbers);
  if (twice != numbers.end()) fail(ErrorCode::usage, option, ": ", *twice, " is there twice");
}

// Before any work: what is to be written, and that the numbers of the table are a grid.
std::shared_ptr<TimingCache> check_options(TuneOptions& options) {
  require_distinct_outputs({.inputs = {options.model.model},
                            .outputs = options.table.empty()
                                           ? std::vector<std::string>{}
                                           : std::vector<std::string>{options.table},
                            .own = {},
                            .json = options.model.json});
  sort_each_once("--densities", options.survey.densities);
  sort_each_once("--shares", options.survey.shares);
  if (options.has_no_channels) options.survey.shares.clear();
  auto cache = open_cache(options.model);
  if (cache) cache->require_writable();
  if (cache || !options.table.empty()) return cache;
  fail(ErrorCode::usage,
       "tune keeps times in a folder: give --cache DIR or set WINNOW_CACHE, or --table FILE");
}

int tune(TuneOptions& options) {
  if (!options.calibrated_by.empty()) {
    if (options.model.model.empty()) return calibrate_table(options);
    fail(ErrorCode::usage, "--calibrate measures nothing: found the model ",
         in_quotes(options.model.model), ", expected none");
  }
  if (options.model.model.empty()) fail(ErrorCode::usage, "model is required");
  const auto cache = check_options(options);
  const std::int64_t largest = *std::ranges::max_element(options.batches);
  const DeployedModel model =
      open_model(options.model.model, largest, open_options(options.model, "tune"));
  const InterruptGuard guard;
  return options.table.empty() ? fill_cache(options, model, cache)
                               : write_table(options, model, cache);
}

}  // namespace

Command add_tune_command(CLI::App& app) {
  auto options = std::make_shared<TuneOptions>();
  add_model_options(app, options->model);
  app.add_option("--batch", options->batches, "Batch sizes, comma separated")
      ->delimiter(',')
      ->check(whole_number(1, 1 << 20))
      ->capture_default_str();
  app.add_flag("--again", options->is_renewed, "Measure what the cache has too, and replace it");
  auto* table = app.add_option(
      "--table", options->table,
      "Write each layer's ms to this file, by density of random masks and by channels");
  table->excludes(app.get_option("--json"));
  table->excludes(app.get_option("--family"));
  app.add_option("--densities", options->survey.densities,
                 "Shares of blocks that the masks keep, comma separated")
      ->delimiter(',')
      ->check(number_between(0.0001, 0.9999))
      ->needs(table)
      ->capture_default_str();
  app.add_option("--vectors", options->survey.vectors,
                 "Output channels that share a mask bit, comma separated")
      ->delimiter(',')
      ->check(CLI::IsMember({1, 8, 16, 32}))
      ->needs(table)
      ->capture_default_str();
  auto* shares =
      app.add_option("--shares", options->survey.shares,
                     "Shares of channels that dense layers are measured with, comma separated")
          ->delimiter(',')
          ->check(number_between(0.0001, 0.9999))
          ->needs(table)
          ->capture_default_str();
  app.add_flag("--no-channels", options->has_no_channels, "Measure no layers with fewer channels")
      ->needs(table)
      ->excludes(shares);
  app.add_flag("--dense-among-sparse", options->survey.has_dense_among_sparse,
               "Measure each layer dense in a network of sparse ones too, for each of --vectors")
      ->needs(table);
  app.add_option("--seed", options->survey.seed, "Seed of the masks")
      ->check(seed_number())
      ->needs(table)
      ->capture_default_str();
  app.get_option("model")->required(false);  // --calibrate reads none
  auto* calibrate = app.add_option("--calibrate", options->calibrated_by,
                                   "Correct the table by what bench measured of a run pruned by it")
                        ->type_name("RUN_FOLDER")
                        ->needs(table);
  for (const char* other : {"--batch", "--again", "--densities", "--vectors", "--shares",
                            "--no-channels", "--dense-among-sparse", "--seed"}) {
    calibrate->excludes(app.get_option(other));
  }
  app.footer("Example: runtime tune vgg16.wnw --batch 1,128 --cache ~/.cache/winnow");
  return [options] { return tune(*options); };
}

}  // namespace winnow
