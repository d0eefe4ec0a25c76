#include "runtime/cli/program.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/base/file.h"
#include "runtime/base/suggest.h"
#include "runtime/base/version.h"
#include "runtime/cli/interrupt.h"
#include "runtime/cli/standard_output.h"

namespace winnow {
namespace {

constexpr int kUsageStatus = static_cast<int>(ErrorCode::usage);

// The subcommand that was being parsed when the error came up, or the program itself.
const CLI::App& innermost(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? app : innermost(*chosen.front());
}

std::vector<std::string> names_of_commands(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands(nullptr)) names.push_back(command->get_name());
  return names;
}

std::vector<std::string> names_of_options(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

// About the first word that was taken neither for an option nor for an option's value and that we
// have something to say about.
std::string hint_for(const CLI::App& app) {
  const CLI::App& command = innermost(app);
  const std::vector<std::string> commands = names_of_commands(command);
  const std::vector<std::string> options = names_of_options(command);
  for (const std::string& given : app.remaining(true)) {
    const std::string word = given.substr(0, given.find('='));
    const bool is_option = word.starts_with('-');
    if (!is_option && !commands.empty()) {
      return "; " + in_quotes(word) + " is no command" + suggestion(word, commands);
    }
    const std::string near = nearest_name(word, options);
    if (!near.empty()) return "; '" + word + "' is not known, did you mean '" + near + "'?";
  }
  return "";
}

}  // namespace

int run_program(const std::string& name, const std::function<int()>& body) {
  prepare_standard_streams();
  end_on_interrupt(name);
  try {
    const int status = body();
    flush_standard_output();
    return status;
  } catch (const Error& error) {
    std::fprintf(stderr, "%s: %s\n", name.c_str(), one_line(error.what()).c_str());
    return static_cast<int>(error.code());
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "%s: out of memory\n", name.c_str());
    return static_cast<int>(ErrorCode::device);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: internal error: %s\n", name.c_str(), one_line(error.what()).c_str());
  }
  return static_cast<int>(ErrorCode::internal);
}

void leave(int status) {
  std::cout << std::flush;
  std::fflush(nullptr);
  std::_Exit(status);
}

std::optional<int> parse_command_line(CLI::App& app, int argc, const char* const* argv) {
  try {
    app.parse(argc, argv);
    return std::nullopt;
  } catch (const CLI::Success& success) {
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    const std::string message = error.what() + hint_for(app) + "; see --help";
    std::fprintf(stderr, "%s: %s\n", app.get_name().c_str(), one_line(message).c_str());
    return kUsageStatus;
  }
}

void add_version_flag(CLI::App& app, const std::string& extra) {
  app.set_version_flag("--version",
                       "winnow " + full_version_text() + (extra.empty() ? "" : ", " + extra),
                       "Print the version and exit");
}

void write_json_output(const std::string& path, const std::string& text) {
  if (path.empty()) return;
  if (path == "-") {
    std::cout << text << '\n';
    flush_standard_output();
  } else {
    write_file_atomically(path, text + "\n");
  }
}

}  // namespace winnow
