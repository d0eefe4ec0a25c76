#include "runtime/commands/challenge.h"

#include <CLI/CLI.hpp>
#include <utility>
#include <vector>

#include "runtime/base/error.h"

namespace winnow {
namespace {

struct Entry {
  const char* name;
  const char* description;
  Command (*add)(CLI::App&);
};

constexpr Entry kCommands[] = {
    {"run", "Run an engine, time it and compare the categories", add_challenge_run_command},
    {"generate", "Make the published networks and images, or others",
     add_challenge_generate_command},
    {"convert", "Write a folder's data in another form", add_challenge_convert_command},
};

}  // namespace

Command add_challenge_command(CLI::App& app) {
  app.require_subcommand(1);
  std::vector<std::pair<CLI::App*, Command>> commands;
  for (const Entry& entry : kCommands) {
    CLI::App* command = app.add_subcommand(entry.name, entry.description);
    commands.emplace_back(command, entry.add(*command));
  }
  return [commands] {
    for (const auto& [command, run] : commands) {
      if (command->parsed()) return run();
    }
    return static_cast<int>(ErrorCode::internal);
  };
}

}  // namespace winnow
