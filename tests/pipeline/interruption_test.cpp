// Runs that end at any moment, or find no room, and go on.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "runtime/base/file.h"
#include "runtime/base/random.h"
#include "tests/pipeline/run_results.h"
#include "tests/pipeline/workshop.h"

namespace winnow {
namespace {

constexpr char kKeys[] = "prune.iter_nr=12 checkpoint.seconds=0.001 ";

bool is_finished(const std::string& folder) {
  return std::filesystem::exists(folder + "/prune.json");
}

// Kills it again and again, each time a little later, until it comes to its end. Returns how often.
int run_under_kills(const Workshop& shop, const std::string& keys, const std::string& folder,
                    Random& random) {
  int kills = 0;
  while (!is_finished(folder)) {
    const double seconds = random.uniform(0.1, 0.6) + 0.1 * kills;
    const bool has_begun = std::filesystem::exists(folder);
    const Outcome outcome = shell(
        "exec timeout -s KILL " + std::to_string(seconds) + " " +
        shop.prune_command(keys + "--quiet --output " + folder + (has_begun ? " --resume" : "")));
    CAPTURE(outcome.output);
    if (outcome.status == 0) break;
    REQUIRE(outcome.status == 128 + SIGKILL);
    ++kills;
    REQUIRE(kills < 200);
  }
  return kills;
}

bool has_temporary_files(const std::string& folder) {
  const auto entries = std::filesystem::directory_iterator(folder);
  return std::any_of(begin(entries), end(entries), [](const auto& entry) {
    return entry.path().filename().string().find(".tmp-") != std::string::npos;
  });
}

}  // namespace

TEST_CASE("a run that is killed at any moments ends as one that is left alone") {
  Random random(71);
  for (const std::string method : {"magnitude", "evolutionary", "lottery"}) {
    CAPTURE(method);
    const Workshop shop;
    const std::string keys = kKeys + ("prune.rounds=2 prune.method=" + method) + " ";
    const std::string whole = shop.data() + "/whole", parts = shop.data() + "/parts";
    REQUIRE(shop.prune(keys + "--quiet --output " + whole).status == 0);
    CHECK(run_under_kills(shop, keys, parts, random) > 0);
    check_equal_runs(whole, parts);
  }
}

// A limit on the size of files is what a disk without room is to the program.
TEST_CASE("a disk without room ends a run in one line, and the checkpoint stays") {
  const Workshop shop;
  const std::string keys = std::string(kKeys) + "prune.iter_nr=24 --output ";
  const std::string whole = shop.data() + "/whole", parts = shop.data() + "/parts";
  REQUIRE(shop.prune(keys + whole + " --quiet").status == 0);
  REQUIRE(stop_at(shop.prune_command(keys + parts), "prune: iteration 1/24", SIGINT).status == 130);
  const std::string checkpoint = parts + "/checkpoint.safetensors";
  const std::string before = read_text_file(checkpoint, 1 << 26);

  const std::string command = shop.prune_command(keys + parts + " --resume --quiet");
  const Outcome full = shell("trap '' XFSZ; ulimit -f 64; exec " + command);
  CAPTURE(full.output);
  CHECK(full.status == 3);
  CHECK(std::count(full.output.begin(), full.output.end(), '\n') == 1);
  CHECK(full.output.find("File too large") != std::string::npos);
  CHECK((read_text_file(checkpoint, 1 << 26) == before));
  CHECK_FALSE(has_temporary_files(parts));

  REQUIRE(shell(command).status == 0);
  check_equal_runs(whole, parts);
}

}  // namespace winnow
