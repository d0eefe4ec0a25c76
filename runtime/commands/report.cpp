#include "runtime/report/report.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/base/file.h"
#include "runtime/base/output_path.h"
#include "runtime/base/suggest.h"
#include "runtime/cli/number_checks.h"
#include "runtime/commands/commands.h"
#include "runtime/report/card.h"
#include "runtime/report/frontier.h"
#include "runtime/report/run_groups.h"

namespace winnow {
namespace {

struct ReportOptions {
  std::vector<std::string> folders;
  std::string card;      // where to; empty: none
  std::string frontier;  // the same; then no folder gets a page
  std::int64_t batch = 0;
};

int draw_frontier(const ReportOptions& options) {
  for (const std::string& folder : options.folders) {
    require_distinct_files({.inputs = {folder + "/prune.json", folder + "/bench.json"},
                            .outputs = {options.frontier},
                            .own = {folder + "/report.html"}});
  }
  require_output_file(options.frontier);
  const Frontier frontier = read_frontier(options.folders, options.batch);
  write_file_atomically(options.frontier, frontier_page(frontier));
  std::printf("%s%-10s %s\n", frontier_table(frontier).c_str(), "written",
              one_line(options.frontier).c_str());
  return 0;
}

int compare(const ReportOptions& options) {
  if (!options.card.empty()) {
    fail(ErrorCode::usage, "report: --card: found ", options.folders.size(),
         " folders, expected one");
  }
  std::printf("%s", groups_table(group_runs(options.folders)).c_str());
  return 0;
}

int report(const ReportOptions& options) {
  if (!options.frontier.empty()) return draw_frontier(options);
  if (options.folders.size() > 1) return compare(options);
  const std::string& folder = options.folders.front();
  if (!options.card.empty()) {
    require_distinct_files(
        {.inputs = {}, .outputs = {options.card}, .own = {folder + "/report.html"}});
    require_output_file(options.card);
  }
  const std::string path = write_report(folder);
  const RunFacts facts = read_run_facts(folder);
  if (!options.card.empty()) write_file_atomically(options.card, model_card(facts));
  std::printf("%s%-10s %s\n", summary_table(facts).c_str(), "report", one_line(path).c_str());
  if (!options.card.empty()) std::printf("%-10s %s\n", "card", one_line(options.card).c_str());
  return 0;
}

}  // namespace

Command add_report_command(CLI::App& app) {
  auto options = std::make_shared<ReportOptions>();
  app.add_option("folder", options->folders,
                 "Run folder, for example runs/vgg16; several are compared in a table")
      ->required();
  auto* card =
      app.add_option("--card", options->card, "Write a model card (Markdown) to this file");
  auto* frontier =
      app.add_option(
             "--frontier", options->frontier,
             "Write accuracy against time of all folders to this file (HTML), and no report")
          ->excludes(card);
  app.add_option("--batch", options->batch, "Batch size of the times; 0: the first run's first")
      ->check(whole_number(0, 1 << 20))
      ->needs(frontier)
      ->capture_default_str();
  return [options] { return report(*options); };
}

}  // namespace winnow
