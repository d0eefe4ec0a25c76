#include "runtime/report/frontier.h"

#include <doctest/doctest.h>

#include "tests/report/run_folders.h"
#include "tests/report/svg.h"
#include "tests/throws.h"

namespace winnow {
namespace {

class Runs {
 public:
  // What is empty is left out.
  std::string add(const std::string& name, const std::string& prune, const std::string& bench,
                  const std::string& run = "") const {
    return folders.add(name, {{"prune.json", prune}, {"bench.json", bench}, {"run.json", run}});
  }
  RunFolders folders;
};

std::string prune(const std::string& name, const std::string& granularity, double accuracy,
                  const std::string& more = "") {
  return R"({"name":")" + name + R"(","granularity":")" + granularity +
         R"(","dense_accuracy":0.93,"accuracy":)" + std::to_string(accuracy) +
         R"(,"sparsity":0.9,"layers":[])" + more + "}";
}

std::string bench(double chosen, double dense = 4.0, const std::string& device = "gpu") {
  const auto plan = [](double ms) {
    return R"({"network_ms":{"median":)" + std::to_string(ms) + R"(},"layers":[]})";
  };
  return R"([{"device":")" + device + R"(","precision":"f16","batch":128,"dense":)" + plan(dense) +
         R"(,"sparse":{},"chosen":)" + plan(chosen) + "}]";
}

}  // namespace

TEST_CASE("runs are points by granularity and time, beside their dense network") {
  const Runs runs;
  const std::vector<std::string> folders = {
      runs.add("a", prune("a", "vector16", 0.92), bench(2.0, 3.5)),
      runs.add("b", prune("b", "element", 0.91, R"(,"time":{"predicted_ms":1.9,"dense_ms":5})"),
               bench(2.5)),
      runs.add("c", prune("c", "vector16", 0.90), bench(1.0), R"({"accuracy":90.5})")};
  const Frontier frontier = read_frontier(folders, 0);
  CHECK((frontier.batch == 128 && frontier.device == "gpu" && frontier.precision == "f16"));
  REQUIRE(frontier.points.size() == 4);
  const std::vector<std::tuple<std::string, std::string, double, double, bool>> expected = {
      {"dense baseline", "dense", 0.93, 5.0, true},
      {"b", "element", 0.91, 2.5, false},  // a is faster and better
      {"c", "vector16", 0.905, 1.0, true},
      {"a", "vector16", 0.92, 2.0, true}};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const FrontierPoint& point = frontier.points[i];
    CHECK(std::tuple(point.run, point.granularity, point.accuracy, point.ms, point.is_best) ==
          expected[i]);
  }
  CHECK(frontier.points[1].predicted_ms == 1.9);

  const std::string page = frontier_page(frontier);
  const std::vector<Points> lines = lines_in(page);
  REQUIRE(lines.size() == 3);
  REQUIRE(lines[2].size() == 2);
  CHECK(lines[2][1].first == doctest::Approx(2.0).epsilon(0.01));
  CHECK(lines[2][1].second == doctest::Approx(92.0).epsilon(0.01));
  CHECK(page.find("<title>vector16: 1, 90.5</title></circle>") != std::string::npos);
  const std::string table = frontier_table(frontier);
  CHECK(table.find("batch 128, f16, gpu\n") == 0);
  CHECK(table.find("b               element      91.00 %   90.00 %   2.5000  2.00     1.9000") !=
        std::string::npos);
}

TEST_CASE("the dense network that was timed in turns counts, and none without some layers") {
  const Runs runs;
  const std::string removed =
      R"(,"removed_layers":["x","y"],"time":{"device":"other","dense_ms":9})";
  std::string in_turns = bench(1.0, 1.5);
  in_turns.insert(in_turns.size() - 2, R"(,"against":{"network_ms":{"median":3.0}})");
  const std::vector<std::string> cut = {
      runs.add("cut", prune("cut", "vector16", 0.92, removed), in_turns)};
  const Frontier alone = read_frontier(cut, 0);
  REQUIRE(alone.points.size() == 1);  // the dense network without two layers is no baseline
  CHECK(alone.points[0].granularity == "vector16, 2 layers left out");
  CHECK(frontier_table(alone).find("1.0000  3.00") != std::string::npos);

  const std::vector<std::string> both = {
      cut[0],
      runs.add("whole",
               prune("whole", "element", 0.91, R"(,"time":{"device":"other","dense_ms":9})"),
               bench(2.0, 3.5))};
  const Frontier frontier = read_frontier(both, 0);
  REQUIRE(frontier.points.size() == 3);
  CHECK(frontier.points[0].granularity == "dense");
  CHECK(frontier.points[0].ms == 3.5);  // a table of another device says nothing here
  CHECK(frontier_table(frontier).find("2.0000  1.75") != std::string::npos);
}

TEST_CASE("a folder of a network that was not pruned is the dense point") {
  const Runs runs;
  const std::vector<std::string> folders = {
      runs.add("d", "", bench(3.0, 3.2), R"({"accuracy":94})"),
      runs.add("a", prune("a", "element", 0.92), bench(2.0))};
  const Frontier frontier = read_frontier(folders, 128);
  REQUIRE(frontier.points.size() == 2);
  CHECK(frontier.points[0].granularity == "dense");
  CHECK(frontier.points[0].ms == 3.2);
  CHECK(frontier.points[0].accuracy == doctest::Approx(0.94));
}

TEST_CASE("runs that cannot be compared are refused") {
  const Runs runs;
  const std::string a = runs.add("a", prune("a", "element", 0.92), bench(2.0));
  const auto refusal = [&](const std::string& folder, std::int64_t batch = 0) {
    const std::vector<std::string> folders = {a, folder};
    CHECK(error_of([&] { read_frontier(folders, batch); }) == ErrorCode::usage);
    return message_of([&] { read_frontier(folders, batch); });
  };
  CHECK(refusal(runs.add("b", prune("b", "element", 0.9), bench(2.0, 4.0, "cpu")))
            .find("/b/bench.json: found times of 'cpu', f16, the first run's are of 'gpu', f16") !=
        std::string::npos);
  CHECK(refusal(runs.add("c", prune("c", "element", 0.9), "")).find("no times of batch 128") !=
        std::string::npos);
  CHECK(refusal(a, 64).find("no times of batch 64") != std::string::npos);
  CHECK(refusal(runs.add("d", "", bench(2.0))).find("no accuracy") != std::string::npos);
}

}  // namespace winnow
