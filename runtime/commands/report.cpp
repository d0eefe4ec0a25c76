#include "runtime/report/report.h"

#include <cstdio>

#include "runtime/base/file.h"
#include "runtime/base/output_path.h"
#include "runtime/base/suggest.h"
#include "runtime/commands/commands.h"
#include "runtime/report/card.h"

namespace winnow {
namespace {

struct ReportOptions {
  std::string folder;
  std::string card;  // where to; empty: none
};

int report(const ReportOptions& options) {
  if (!options.card.empty()) {
    require_distinct_files(
        {.inputs = {}, .outputs = {options.card}, .own = {options.folder + "/report.html"}});
    require_output_file(options.card);
  }
  const std::string path = write_report(options.folder);
  const RunFacts facts = read_run_facts(options.folder);
  if (!options.card.empty()) write_file_atomically(options.card, model_card(facts));
  std::printf("%s%-10s %s\n", summary_table(facts).c_str(), "report", one_line(path).c_str());
  if (!options.card.empty()) std::printf("%-10s %s\n", "card", one_line(options.card).c_str());
  return 0;
}

}  // namespace

Command add_report_command(CLI::App& app) {
  auto options = std::make_shared<ReportOptions>();
  app.add_option("folder", options->folder, "Run folder, for example runs/vgg16")->required();
  app.add_option("--card", options->card, "Write a model card (Markdown) to this file");
  return [options] { return report(*options); };
}

}  // namespace winnow
