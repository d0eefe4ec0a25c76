// `runtime report --card`: where the card goes, and where it does not.
#include <filesystem>

#include "tests/commands/desk.h"

namespace winnow {
namespace {

std::string run_folder(const TemporaryDirectory& directory) {
  const std::string folder = directory / "run";
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

}  // namespace winnow
