#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>
#include <string>

#include "runtime/bench/compare.h"
#include "runtime/cli/number_checks.h"
#include "runtime/cli/program.h"
#include "runtime/cli/progress.h"
#include "runtime/commands/commands.h"

namespace winnow {
namespace {

struct BenchOptions {
  ModelOptions model;
  std::vector<std::int64_t> batches = {1, 128};
  CompareOptions compare;
  std::string format = "table";  // of what stdout has
  std::string against;           // another model file
};

const std::map<std::string, TableForm> kForms = {
    {"table", TableForm::aligned}, {"md", TableForm::markdown}, {"csv", TableForm::csv}};

// A batch's results as the user wants to see them; nothing where that is JSON.
void show(const Comparison& comparison, const BenchOptions& options, bool is_first) {
  const bool is_json = options.format == "json" || options.model.json == "-";
  const TableForm form = is_json ? TableForm::aligned : kForms.at(options.format);
  const std::string text = comparison_table(comparison, form, is_first);
  std::fprintf(is_json ? stderr : stdout, form == TableForm::csv ? "%s" : "%s\n", text.c_str());
  std::fflush(stdout);
}

std::optional<DeployedModel> open_other(const BenchOptions& options, std::int64_t batch) {
  if (options.against.empty()) return std::nullopt;
  return open_model(options.against, batch, open_options(options.model, "bench"));
}

int bench(BenchOptions& options) {
  check_json_place(options.model);
  options.compare.device = device_from(options.model.device);
  const std::int64_t largest = *std::ranges::max_element(options.batches);
  const DeployedModel model =
      open_model(options.model.model, largest, open_options(options.model, "bench"));
  const std::optional<DeployedModel> other = open_other(options, largest);
  options.compare.against = other ? &*other : nullptr;
  options.compare.against_name = options.against;
  const auto cache = open_cache(options.model);
  std::string json;
  for (const std::int64_t batch : options.batches) {
    const std::string label = "bench: batch " + std::to_string(batch);
    options.compare.session = session_options(options.model, batch, label, cache);
    options.compare.progress = progress_callback(label + ": time round", options.model.is_quiet);
    const Comparison comparison = compare_plans(model, options.compare);
    show(comparison, options, json.empty());
    json += (json.empty() ? "[\n" : ",\n") + comparison_json(comparison, options.compare);
  }
  tell_of(cache);
  json += "\n]";
  write_json_output(options.model.json, json);
  if (options.format == "json" && options.model.json != "-") write_json_output("-", json);
  return 0;
}

}  // namespace

Command add_bench_command(CLI::App& app) {
  auto options = std::make_shared<BenchOptions>();
  add_model_options(app, options->model);
  app.add_option("--batch", options->batches, "Batch sizes, comma separated")
      ->delimiter(',')
      ->check(whole_number(1, 1 << 20))
      ->capture_default_str();
  CompareOptions& compare = options->compare;
  app.add_option("--warm-up", compare.warm_up, "Untimed runs before each round")
      ->check(whole_number(0, 1 << 20))
      ->capture_default_str();
  app.add_option("--repeats", compare.repeats, "Timed runs of the whole network")
      ->check(whole_number(1, 1 << 24))
      ->capture_default_str();
  app.add_option("--layer-repeats", compare.layer_repeats, "Timed runs of each layer")
      ->check(whole_number(1, 1 << 24))
      ->capture_default_str();
  app.add_option("--streams", compare.streams,
                 "Runs under way at the same time where copies are timed; more than one need a GPU")
      ->check(whole_number(1, 64))
      ->capture_default_str();
  app.add_flag("--candidates", compare.all_candidates,
               "JSON: every kernel that was timed, not the fastest of each family");
  app.add_option(
      "--against", options->against,
      "Another model file of the same input, timed in the same turns: the dense network");
  app.add_option("--format", options->format, "What stdout has: table, json, csv or md (Markdown)")
      ->check(CLI::IsMember({"table", "json", "csv", "md"}))
      ->capture_default_str();
  app.footer("Example: runtime bench vgg16.wnw --batch 1,128 --precision f16 --json bench.json");
  return [options] { return bench(*options); };
}

}  // namespace winnow
