// prune: trains a network and prunes it, by evolution with mask rewinding (paper 003, Algorithm 1)
// or another method.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "prune/config/run_config.h"
#include "prune/layer_search.h"
#include "prune/layer_sensitivity.h"
#include "prune/prune_program.h"
#include "prune/run/joined_run.h"
#include "prune/training/torch_errors.h"
#include "runtime/base/error.h"
#include "runtime/base/file.h"
#include "runtime/base/output_path.h"
#include "runtime/base/rank_farewell.h"
#include "runtime/base/run_names.h"
#include "runtime/base/suggest.h"
#include "runtime/base/utf8.h"
#include "runtime/cli/interrupt.h"
#include "runtime/cli/number_checks.h"
#include "runtime/cli/program.h"

namespace winnow {
namespace {

struct Arguments {
  std::string config;
  std::vector<std::string> overrides;
  std::optional<std::string> output;
  std::optional<std::string> device;
  std::optional<std::string> seed;
  std::optional<std::string> json;
  bool resumes = false;
  bool overwrites = false;
  std::optional<std::string> plot;
  std::vector<double> sparsities;
  bool is_sensitivity = false;
  bool is_search = false;
  std::string search = "evolution";
  LayerSearchOptions trials;
  bool is_dry_run = false;
  bool is_quiet = false;
};

CLI::Option* declare_search(CLI::App& app, Arguments& arguments) {
  CLI::Option* search = app.add_flag("--search-layers", arguments.is_search,
                                     "Find layers to leave out, by trials for the target");
  app.add_option("--search", arguments.search, "By evolution, greedy or random")
      ->type_name("NAME")
      ->capture_default_str()
      ->needs(search);
  app.add_option("--trials", arguments.trials.trials, "Sets of layers that are tried")
      ->type_name("N")
      ->capture_default_str()
      ->check(whole_number(1, 100000))
      ->needs(search);
  app.add_option("--trial-batches", arguments.trials.batches, "Batches that a trial trains")
      ->type_name("N")
      ->capture_default_str()
      ->check(whole_number(1))
      ->needs(search);
  app.add_option("--population", arguments.trials.sets.population, "Best sets that have children")
      ->type_name("N")
      ->capture_default_str()
      ->check(whole_number(1, 100000))
      ->needs(search);
  return search;
}

void declare(CLI::App& app, Arguments& arguments) {
  app.add_option("--config", arguments.config, "Configuration (YAML); see docs/commands.md")
      ->type_name("FILE");
  app.add_option("overrides", arguments.overrides,
                 "Values that replace the configuration's: train.epochs=3")
      ->type_name("KEY=VALUE");
  app.add_option("--output", arguments.output, "Run folder (default: runs/NAME)")->type_name("DIR");
  app.add_option("--device", arguments.device, "auto, cpu, cuda or cuda:N");
  app.add_option("--seed", arguments.seed, "Seed of everything random")
      ->type_name("N")
      ->check(whole_number(0));
  CLI::Option* json =
      app.add_option("--json", arguments.json, "Write the summary there too; - is stdout")
          ->type_name("FILE");
  CLI::Option* resume = app.add_flag(
      "--resume", arguments.resumes,
      "Go on with the run in the folder; without --config its config.yaml is used. With "
      "--search-layers: with the trials that --json FILE has");
  CLI::Option* overwrite =
      app.add_flag("--overwrite", arguments.overwrites,
                   "Replace an earlier run in the folder. With --search-layers: the trials that "
                   "--json FILE has")
          ->excludes(resume);
  CLI::Option* dry_run = app.add_flag("--dry-run", arguments.is_dry_run,
                                      "Check configuration and data, print the plan, train nothing")
                             ->excludes(json);
  CLI::Option* sensitivity =
      app.add_flag("--sensitivity", arguments.is_sensitivity,
                   "Measure the accuracy with one layer of model.weights pruned at a time")
          ->excludes(resume)
          ->excludes(overwrite)
          ->excludes(dry_run);
  app.add_option("--sparsities", arguments.sparsities,
                 "Of the layer pruned (default: 0.5,0.7,0.8,0.9,0.95)")
      ->type_name("S,..")
      ->delimiter(',')
      ->needs(sensitivity);
  app.add_option("--plot", arguments.plot, "A page with charts of it (HTML)")
      ->type_name("FILE")
      ->needs(sensitivity);
  declare_search(app, arguments)->excludes(dry_run)->excludes(sensitivity);
  app.add_flag("--quiet", arguments.is_quiet, "No progress on stderr");
}

void check_values(const Arguments& arguments) {
  using Option = std::pair<const char*, const std::optional<std::string>&>;
  for (const auto& [name, value] :
       {Option("--output", arguments.output), Option("--device", arguments.device),
        Option("--seed", arguments.seed), Option("--json", arguments.json),
        Option("--plot", arguments.plot)}) {
    if (value && value->empty()) fail(ErrorCode::usage, name, ": found nothing, expected a value");
  }
  // It becomes a key of config.yaml, where such texts are refused.
  if (!has_control_characters(arguments.output.value_or(""))) return;
  fail(ErrorCode::usage, "--output: ", in_quotes(*arguments.output),
       ": a text with a control character");
}

// The file to read; for --resume alone, the one that the run wrote.
std::string config_file(const Arguments& arguments) {
  if (!arguments.config.empty()) return arguments.config;
  if (arguments.resumes && arguments.output) return *arguments.output + "/" + kConfigFile;
  fail(ErrorCode::usage, "--config FILE is missing (or --resume --output DIR of an earlier run)");
}

RunConfig resolve(const Arguments& arguments) {
  std::vector<std::string> overrides = arguments.overrides;
  if (arguments.seed) overrides.push_back("seed=" + *arguments.seed);
  RunConfig config = read_run_config(config_file(arguments), overrides);
  if (arguments.output) config.output = *arguments.output;
  if (arguments.device) config.device = *arguments.device;
  return config;
}

// The run folder itself may not be there yet.
void check_json_place(const std::string& path, const std::string& yaml, const RunConfig& config) {
  namespace fs = std::filesystem;
  const std::string run = config.run_folder();
  ProgramFiles files{.inputs = {yaml}, .outputs = {}, .own = {}, .json = path};
  if (!config.model.weights.empty()) files.inputs.push_back(config.model.weights);
  for (const char* name : kReservedNames) files.own.push_back(run + "/" + name);
  require_distinct_files(files);
  if (path.empty() || path == "-") return;
  require_output_name(path);
  std::error_code error;
  const auto folder_of = [&](const fs::path& file) {
    return fs::weakly_canonical(fs::absolute(file), error).parent_path();
  };
  if (folder_of(path) != folder_of(fs::path(run) / kConfigFile)) require_output_file(path);
}

void print_summary(const RunConfig& config, const PruneSummary& summary, std::FILE* out) {
  if (config.has_baseline()) {
    std::fprintf(out, "dense accuracy:  %.2f %%\n", 100.0 * summary.dense_accuracy);
  }
  std::fprintf(out, "pruned accuracy: %.2f %%\nsparsity:        %.2f %%\nwritten:         %s\n",
               100.0 * summary.pruned_accuracy, 100.0 * summary.sparsity,
               one_line(config.run_folder() + "/pruned.safetensors").c_str());
  if (!summary.processes.empty()) {
    std::fprintf(out, "processes:       %s\n", summary.processes.c_str());
  }
  if (!summary.time.empty()) std::fprintf(out, "time:            %s\n", summary.time.c_str());
  if (!summary.notice.empty()) std::fprintf(stderr, "prune: %s\n", summary.notice.c_str());
  if (!summary.target_met) {
    std::fprintf(stderr, "prune: target not met: %s\n", one_line(summary.shortfall).c_str());
  }
}

// Of what trains no run and so has no run folder: before minutes of measuring.
void check_outputs(const Arguments& arguments, const RunConfig& config) {
  ProgramFiles files{
      .inputs = {arguments.config}, .outputs = {}, .own = {}, .json = arguments.json.value_or("")};
  if (!config.model.weights.empty()) files.inputs.push_back(config.model.weights);
  if (arguments.plot) files.outputs.push_back(*arguments.plot);
  require_distinct_outputs(files);
}

int run_sensitivity(const Arguments& arguments, const RunConfig& config) {
  const std::string json = arguments.json.value_or(""), plot = arguments.plot.value_or("");
  check_outputs(arguments, config);
  SensitivityOptions options{.is_quiet = arguments.is_quiet};
  if (!arguments.sparsities.empty()) options.sparsities = arguments.sparsities;
  const SensitivityResult result = measure_sensitivity(config, options);
  std::fputs(result.table.c_str(), json == "-" ? stderr : stdout);
  if (!plot.empty()) write_file_atomically(plot, result.page);
  write_json_output(json, result.json);
  return 0;
}

int run_search(const Arguments& arguments, const RunConfig& config) {
  const std::string json = arguments.json.value_or("");
  check_outputs(arguments, config);
  LayerSearchOptions options = arguments.trials;
  options.sets.search = set_search_from(arguments.search);
  options.is_quiet = arguments.is_quiet;
  options.file = json == "-" ? "" : json;
  options.resumes = arguments.resumes;
  options.overwrites = arguments.overwrites;
  if (options.resumes && options.file.empty()) {
    fail(ErrorCode::usage, "--resume: a search goes on with the trials that --json FILE has");
  }
  std::optional<InterruptGuard> guard;  // before there is something to save a signal ends at once
  options.should_stop = [] { return InterruptGuard::requested(); };
  options.on_begin = [&] { guard.emplace(); };
  const LayerSearchResult result = search_layers(config, options);
  std::fputs(result.table.c_str(), json == "-" ? stderr : stdout);
  write_json_output(json, result.json);
  return 0;
}

// One of several processes; the summary is rank 0's.
std::optional<PruneSummary> run_as_rank(const RankPlace& place, const RunConfig& config,
                                        PruneOptions options) {
  RankStore store(place, rank_timeout());
  store.stop_if(options.should_stop);
  StorePeers peers(store);
  options.peers = &peers;
  options.local_rank = place.local_rank;
  return tell_ranks_of_failure(store, [&]() -> std::optional<PruneSummary> {
    if (place.rank > 0) {
      join_run(config, options);
      return std::nullopt;
    }
    PruneSummary summary = run_prune(config, options);
    summary.processes = std::to_string(place.size) + peers.way();
    return summary;
  });
}

std::optional<PruneSummary> run_at(const RankPlace& place, const RunConfig& config,
                                   const PruneOptions& options) {
  if (place.size == 1) return run_prune(config, options);
  return run_as_rank(place, config, options);
}

int run(const Arguments& arguments) {
  check_values(arguments);
  const RunConfig config = resolve(arguments);
  const RankPlace place = rank_place();
  const bool is_alone = arguments.is_sensitivity || arguments.is_search || arguments.is_dry_run;
  if (place.rank > 0 && is_alone) return 0;
  if (arguments.is_sensitivity) return run_sensitivity(arguments, config);
  if (arguments.is_search) return run_search(arguments, config);
  const std::string json = arguments.json.value_or("");
  check_json_place(json, config_file(arguments), config);
  const FolderUse use = arguments.resumes      ? FolderUse::resume
                        : arguments.overwrites ? FolderUse::overwrite
                                               : FolderUse::fresh;
  if (arguments.is_dry_run) {
    std::fputs(describe_run(config, {.use = use, .is_quiet = arguments.is_quiet}).c_str(), stdout);
    return 0;
  }
  std::optional<InterruptGuard> guard;  // before there is something to save a signal ends at once
  const PruneOptions options{.use = use,
                             .is_quiet = arguments.is_quiet,
                             .should_stop = [] { return InterruptGuard::requested(); },
                             .on_begin = [&] { guard.emplace(); }};
  const std::optional<PruneSummary> summary = run_at(place, config, options);
  if (!summary) return 0;
  print_summary(config, *summary, json == "-" ? stderr : stdout);
  write_json_output(json, summary->json);
  return 0;
}

}  // namespace
}  // namespace winnow

int main(int argc, char** argv) {
  winnow::leave(winnow::run_program("prune", [&] {
    CLI::App app(
        "Trains a network and prunes it: by evolution with mask rewinding, gradual magnitude "
        "pruning, lottery tickets or structured sparsity learning.",
        "prune");
    winnow::Arguments arguments;
    winnow::declare(app, arguments);
    winnow::add_version_flag(app, "LibTorch " WINNOW_TORCH_VERSION);
    if (const auto status = winnow::parse_command_line(app, argc, argv)) return *status;
    return winnow::without_torch_errors([&] { return winnow::run(arguments); });
  }));
}
