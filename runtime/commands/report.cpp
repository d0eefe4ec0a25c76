#include "runtime/report/report.h"

#include <cstdio>

#include "runtime/base/suggest.h"
#include "runtime/commands/commands.h"

namespace winnow {
namespace {

int report(const std::string& folder) {
  const std::string path = write_report(folder);
  std::printf("%s%-10s %s\n", summary_table(read_run_facts(folder)).c_str(), "report",
              one_line(path).c_str());
  return 0;
}

}  // namespace

Command add_report_command(CLI::App& app) {
  auto folder = std::make_shared<std::string>();
  app.add_option("folder", *folder, "Run folder, for example runs/vgg16")->required();
  return [folder] { return report(*folder); };
}

}  // namespace winnow
