// `runtime report --card`: where the card goes, and where it does not; several runs.
#include <filesystem>

#include "tests/commands/desk.h"

namespace winnow {
namespace {

std::string run_folder(const TemporaryDirectory& directory, const std::string& name = "run") {
  const std::string folder = directory / name;
  std::filesystem::create_directory(folder);
  write_file_atomically(folder + "/prune.json",
                        std::string_view(R"({"name":"small","sparsity":0.5,"layers":[]})"));
  write_file_atomically(folder + "/config.yaml", std::string_view("name: small\n"));
  return folder;
}

}  // namespace

TEST_CASE("report writes a card beside its page where it is told to") {
  const TemporaryDirectory directory;
  const std::string folder = run_folder(directory);
  const std::string card = directory / "README.md";
  const Outcome outcome = shell(program("runtime") + " report " + folder + " --card " + card);
  INFO(outcome.output);
  REQUIRE(outcome.status == 0);
  CHECK(outcome.output.ends_with("card       " + card + "\n"));
  CHECK(read_text_file(card).starts_with("# small\n"));
  CHECK(std::filesystem::exists(folder + "/report.html"));
}

TEST_CASE("a card that would replace a file of the run is wrong usage, and nothing is written") {
  const TemporaryDirectory directory;
  const std::string folder = run_folder(directory);
  for (const std::string& card :
       {folder + "/report.html", folder + "/prune.json", directory / "none/card.md"}) {
    CAPTURE(card);
    const Outcome outcome = shell(program("runtime") + " report " + folder + " --card " + card);
    CHECK(outcome.status == 2);
    CHECK(outcome.output.starts_with("runtime: "));
    CHECK(!std::filesystem::exists(folder + "/report.html"));
  }
  CHECK(read_text_file(folder + "/prune.json").starts_with("{"));
}

TEST_CASE("several runs are a table: no page is written, and a card is wrong usage") {
  const TemporaryDirectory directory;
  const std::string one = run_folder(directory, "one"), two = run_folder(directory, "two");
  const std::string command = program("runtime") + " report " + one + " " + two;
  const Outcome outcome = shell(command);
  CHECK(outcome.status == 0);
  CHECK(outcome.output.starts_with("runs "));
  CHECK(!std::filesystem::exists(one + "/report.html"));
  const std::string card = directory / "card.md";
  const Outcome refused = shell(command + " --card " + card);
  CHECK(refused.status == 2);
  CHECK(refused.output == "runtime: report: --card: found 2 folders, expected one\n");
  CHECK(!std::filesystem::exists(card));
}

}  // namespace winnow
