// Standard output that is full, closed or read by nobody; the front script.
#include <sys/stat.h>

#include <filesystem>

#include "tests/commands/desk.h"

namespace winnow {
namespace {

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("output that does not reach its place is exit status 3") {
  const Desk desk;
  for (const std::string command :
       {"inspect --quiet", "inspect --json -", "verify --device cpu --quiet",
        "verify --device cpu --quiet --json -"}) {
    CAPTURE(command);
    const Outcome full = desk.run(command, ">/dev/full");
    CHECK(full.status == 3);
    CHECK(holds(full.output, "runtime: standard output: cannot write: No space left on device\n"));
    const Outcome closed = desk.run(command, ">&-");
    CHECK(closed.status == 3);
    CHECK(holds(closed.output, "runtime: standard output: cannot write"));
  }
  CHECK(shell(program("runtime") + " --help >/dev/full").status == 3);
  CHECK(shell(program("runtime") + " --version >&-").status == 3);
  CHECK(shell(program("runtime") + " doctor >/dev/full").status == 3);
  CHECK(shell(program("export") + " --help >/dev/full").status == 3);
}

TEST_CASE("no file that is opened later takes the place of a closed standard output") {
  const Desk desk;
  const std::string json = desk.file("out.json");
  CHECK(desk.run("inspect", "--json " + json + " >&- 2>/dev/null").status == 3);
  CHECK(nlohmann::json::parse(read_text_file(json))["graph"] == "net");
}

TEST_CASE("a reader that goes away ends a command quietly") {
  const Desk desk;
  const std::string status = desk.file("status");
  const Outcome outcome = shell("( sleep 0.3; " + program("runtime") + " inspect --quiet " +
                                desk.model() + "; echo $? > " + status + " ) | true");
  CHECK(outcome.output == "");
  CHECK(read_text_file(status) == "0\n");
}

TEST_CASE("the front script knows every command of runtime") {
  const TemporaryDirectory directory;
  const std::string front = directory / "winnow";
  std::filesystem::copy_file(std::string(WINNOW_SOURCE_DIR) + "/.ci/cmake/winnow", front);
  std::filesystem::create_symlink(program("runtime"), directory / "winnow-runtime");
  std::istringstream help(shell(program("runtime") + " --help").output);
  int commands = 0;
  bool is_list = false;
  for (std::string line; std::getline(help, line);) {
    if (is_list && line.starts_with("  ") && line.size() > 3 && line[2] != ' ') {
      const std::string name = line.substr(2, line.find(' ', 2) - 2);
      CAPTURE(name);
      const Outcome outcome = shell(front + " " + name + " --help");
      CHECK(outcome.status == 0);
      CHECK(holds(outcome.output, "Usage: runtime " + name));
      CHECK(holds(shell(front + " --help").output, name));
      ++commands;
    }
    is_list = is_list || line.starts_with("Subcommands:");
  }
  CHECK(commands == 8);
  CHECK(shell(front + " challlenge").status == 2);
}

}  // namespace winnow
