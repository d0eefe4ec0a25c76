// runtime: run, measure and check deployed models. Links neither LibTorch nor Python.
#include <CLI/CLI.hpp>
#include <utility>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/cli/program.h"
#include "runtime/commands/commands.h"

namespace {

using winnow::Command;

struct Entry {
  const char* name;
  const char* description;
  Command (*add)(CLI::App&);
};

constexpr Entry kCommands[] = {
    {"run", "Classify pictures, or measure the accuracy on a data set", winnow::add_run_command},
    {"bench", "Time the network and its layers, dense against sparse", winnow::add_bench_command},
    {"inspect", "Show what a model file holds", winnow::add_inspect_command},
    {"verify", "Check every layer against the reference", winnow::add_verify_command},
    {"tune", "Measure kernels once for all later starts, or as a table for pruning",
     winnow::add_tune_command},
    {"doctor", "Show what this build and this machine can do", winnow::add_doctor_command},
    {"report", "Summarise a run folder and write its report.html", winnow::add_report_command},
    {"challenge", "The Sparse DNN Graph Challenge: its data, its networks",
     winnow::add_challenge_command},
};

}  // namespace

int main(int argc, char** argv) {
  return winnow::run_program("runtime", [&] {
    CLI::App app("Run, measure and check deployed sparse models.", "runtime");
    winnow::add_version_flag(app);
    app.require_subcommand(1);
    std::vector<std::pair<CLI::App*, Command>> commands;
    for (const Entry& entry : kCommands) {
      CLI::App* command = app.add_subcommand(entry.name, entry.description);
      commands.emplace_back(command, entry.add(*command));
    }
    if (const auto status = winnow::parse_command_line(app, argc, argv)) return *status;
    for (const auto& [command, run] : commands) {
      if (command->parsed()) return run();
    }
    return static_cast<int>(winnow::ErrorCode::internal);
  });
}
