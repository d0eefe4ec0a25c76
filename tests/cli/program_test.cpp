#include "runtime/cli/program.h"

#include <doctest/doctest.h>

#include "runtime/base/error.h"
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

TEST_CASE("a count is not negative, also with a unit and in a subcommand") {
  CLI::App app("test", "t");
  std::uint64_t bytes = 7;
  std::uint64_t seed = 7;
  int number = 0;
  CLI::App* command = app.add_subcommand("go", "");
  command->add_option("--bytes", bytes)->transform(CLI::AsSizeValue(false));
  command->add_option("--seed", seed);
  command->add_option("--number", number);
  const char* const unit[] = {"t", "go", "--bytes", "-1GB"};
  CHECK(parse_command_line(app, 4, unit) == 2);
  const char* const plain[] = {"t", "go", "--seed=-1"};
  CHECK(parse_command_line(app, 3, plain) == 2);
  const char* const good[] = {"t", "go", "--bytes", "2kb", "--seed", "3", "--number", "-4"};
  CHECK(!parse_command_line(app, 8, good).has_value());
  CHECK(bytes == 2048);
  CHECK(seed == 3);
  CHECK(number == -4);
}

TEST_CASE("format_duration picks the unit that reads well") {
  CHECK(format_duration(4.23) == "4.2 s");
  CHECK(format_duration(125) == "2:05");
  CHECK(format_duration(3723) == "1:02:03");
}

}  // namespace
}  // namespace winnow
