#include "runtime/cli/program.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/cli/number_checks.h"
#include "runtime/cli/progress.h"

namespace winnow {
namespace {

TEST_CASE("run_program turns an error into its exit status") {
  CHECK(run_program("t", [] { return 0; }) == 0);
  CHECK(run_program("t", []() -> int { fail(ErrorCode::usage, "u"); }) == 2);
  CHECK(run_program("t", []() -> int { fail(ErrorCode::bad_file, "b"); }) == 3);
  CHECK(run_program("t", []() -> int { fail(ErrorCode::device, "d"); }) == 4);
  CHECK(run_program("t", []() -> int { fail(ErrorCode::quality, "q"); }) == 5);
  CHECK(run_program("t", []() -> int { fail(ErrorCode::interrupted, "i"); }) == 130);
  CHECK(run_program("t", []() -> int { throw std::runtime_error("x"); }) == 1);
  CHECK(run_program("t", []() -> int { throw std::bad_alloc(); }) == 4);
}

TEST_CASE("a mistake on the command line is status 2, help is status 0") {
  CLI::App app("test", "t");
  int number = 0;
  app.add_option("--number", number)->required();
  const char* const good[] = {"t", "--number", "3"};
  CHECK(!parse_command_line(app, 3, good).has_value());
  CHECK(number == 3);
  const char* const misspelt[] = {"t", "--nubmer", "3"};
  CHECK(parse_command_line(app, 3, misspelt) == 2);
  const char* const missing[] = {"t"};
  CHECK(parse_command_line(app, 1, missing) == 2);
  const char* const help[] = {"t", "--help"};
  CHECK(parse_command_line(app, 2, help) == 0);
}

// What parse_command_line says to stderr.
std::string said(CLI::App& app, std::vector<const char*> words) {
  words.insert(words.begin(), "t");
  std::fflush(stderr);
  const int kept = dup(STDERR_FILENO);
  std::FILE* file = std::tmpfile();
  dup2(fileno(file), STDERR_FILENO);
  const auto status = parse_command_line(app, static_cast<int>(words.size()), words.data());
  std::fflush(stderr);
  dup2(kept, STDERR_FILENO);
  close(kept);
  CHECK(status == 2);
  std::rewind(file);
  char text[1024] = {};
  const std::size_t size = std::fread(text, 1, sizeof(text), file);
  std::fclose(file);
  return {text, size};
}

TEST_CASE("hints are about words that belong to nothing, not about values of options") {
  CLI::App app("test", "t");
  std::string in, limit;
  app.add_option("--in", in);
  app.add_option("--limit", limit)->check(whole_number(1));
  CHECK(said(app, {"--in", "in", "--limit", "-1"}) ==
        "t: --limit: found -1, expected a whole number of at least 1; see --help\n");
  const std::string misspelt = said(app, {"--in", "in", "--limt", "3"});
  CHECK(misspelt.find("'--limt' is not known, did you mean '--limit'?") != std::string::npos);
  CHECK(misspelt.find("'in'") == std::string::npos);
  CHECK(said(app, {"--limt=3"}).find("did you mean '--limit'?") != std::string::npos);
}

TEST_CASE("a command that does not exist is named, with the nearest or all that do") {
  CLI::App app("test", "t");
  app.require_subcommand(1);
  app.add_subcommand("run", "");
  app.add_subcommand("bench", "")->require_subcommand(1)->add_subcommand("inner", "");
  CHECK(said(app, {"bnch"}).find("'bnch' is no command; did you mean 'bench'?") !=
        std::string::npos);
  CHECK(said(app, {"something"}).find("'something' is no command; known: run, bench") !=
        std::string::npos);
  CHECK(
      said(app, {"bench", "x\x1by\nzzzz"}).find("'x\\x1by\\x0azzzz' is no command; known: inner") !=
      std::string::npos);
}

TEST_CASE("format_duration picks the unit that reads well") {
  CHECK(format_duration(4.23) == "4.2 s");
  CHECK(format_duration(125) == "2:05");
  CHECK(format_duration(3723) == "1:02:03");
}

}  // namespace
}  // namespace winnow
