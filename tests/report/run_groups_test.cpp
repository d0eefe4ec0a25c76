#include "runtime/report/run_groups.h"

#include <doctest/doctest.h>

#include <sstream>

#include "tests/report/run_folders.h"
#include "tests/throws.h"

namespace winnow {
namespace {

class Runs {
 public:
  std::string add(const std::string& name, double accuracy, const std::string& config) const {
    const std::string prune = R"({"name":"n","dense_accuracy":0.93,"accuracy":)" +
                              std::to_string(accuracy) + R"(,"sparsity":0.9,"layers":[]})";
    return folders.add(name, {{"prune.json", prune}, {"config.yaml", config}});
  }
  RunFolders folders;
};

std::string config(int seed, int fold, const std::string& method, const std::string& weights) {
  std::ostringstream text;
  text << "name: of-" << seed << "\nseed: " << seed << "\noutput: runs/" << seed
       << "\ndata:\n  path: data\n  fold: " << fold << "\nmodel:\n  weights: " << weights
       << "\nprune:\n  method: " << method << "\n  teacher: t" << seed << "\n";
  return text.str();
}

}  // namespace

TEST_CASE("runs that differ by seed or fold alone are one row with mean and range") {
  const Runs runs;
  const std::vector<std::string> folders = {
      runs.add("mr-fold0", 0.70, config(1, 0, "magnitude", "a")),
      runs.add("lottery-seed1", 0.75, config(1, 0, "lottery", "a")),
      runs.add("mr-fold1", 0.80, config(1, 1, "magnitude", "b")),
      runs.add("mr-fold12", 0.90, config(2, 12, "magnitude", "c"))};
  const std::vector<RunGroup> groups = group_runs(folders);
  REQUIRE(groups.size() == 2);
  CHECK((groups[0].name == "mr" && groups[0].runs.size() == 3));
  CHECK((groups[1].name == "lottery-seed1" && groups[1].runs.size() == 1));
  CHECK(groups_table(groups) ==
        "runs           number  dense %                 pruned %                sparsity %\n"
        "mr             3       93.00 (93.00 to 93.00)  80.00 (70.00 to 90.00)  90.00 (90.00 to "
        "90.00)\n"
        "lottery-seed1  1       93.00                   75.00                   90.00\n");
}

TEST_CASE("runs without a configuration stand alone, and what one lacks is not averaged") {
  const Runs runs;
  std::vector<std::string> folders = {runs.add("a1", 0.7, ""), runs.add("a2", 0.8, "")};
  CHECK(group_runs(folders).size() == 2);
  folders = {runs.add("s-1", 0.7, config(1, 0, "magnitude", "a")),
             runs.folders.add("s-2", {{"prune.json", R"({"name":"n","accuracy":0.9,"layers":[]})"},
                                      {"config.yaml", config(2, 0, "magnitude", "a")}})};
  const std::string table = groups_table(group_runs(folders));
  CHECK(table.find("s     2       -        80.00 (70.00 to 90.00)  -\n") != std::string::npos);
}

TEST_CASE("names that share nothing take the first one") {
  const Runs runs;
  const std::vector<std::string> folders = {
      runs.add("1", 0.7, config(1, 0, "magnitude", "a")),
      runs.add("2", 0.7, config(2, 0, "magnitude", "a")) + "/"};
  CHECK(group_runs(folders).front().name == "1 and others");
}

TEST_CASE("a run named twice and a folder that is none are refused") {
  const Runs runs;
  const std::string run = runs.add("a", 0.7, config(1, 0, "magnitude", "a"));
  const std::vector<std::string> twice = {run, run + "/"};
  CHECK(error_of([&] { group_runs(twice); }) == ErrorCode::usage);
  const std::vector<std::string> missing = {run, run + "-other"};
  CHECK(error_of([&] { group_runs(missing); }) == ErrorCode::bad_file);
}

}  // namespace winnow
