// What the main functions of the programs share: parsing, errors, exit status.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace CLI {
class App;
}  // namespace CLI

namespace winnow {

// Runs `body` and returns its status. What it throws becomes one line on stderr
// ("prune: configs/a.yaml:3:1: ...") and the exit status of its ErrorCode: want of memory is that
// of a device, anything else that is not an Error is status 1. SIGINT and SIGTERM end it
// (interrupt.h). Output that could not be written is status 3 (standard_output.h).
int run_program(const std::string& name, const std::function<int()>& body);

// Flushes output and ends the process at once, without static destructors: with the CUDA build of
// LibTorch these abort on some systems ("free(): invalid pointer") after all work is done.
[[noreturn]] void leave(int status);

// Parses the command line. Returns nothing if the program should go on, else the status to end
// with: 0 after --help and --version, 2 after a mistake, which is named on stderr with a
// did-you-mean for misspelt options and subcommands.
std::optional<int> parse_command_line(CLI::App& app, int argc, const char* const* argv);

// Adds --version, which prints this.
void add_version_flag(CLI::App& app, const std::string& extra = "");

// Writes `text` to `path`, or to stdout if it is "-". Nothing if `path` is empty. Throws
// Error{bad_file} if it cannot be written.
void write_json_output(const std::string& path, const std::string& text);

}  // namespace winnow
