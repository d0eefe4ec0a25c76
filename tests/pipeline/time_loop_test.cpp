// The closed loop of a budget of time with the programs of the pipeline.
#include <doctest/doctest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "runtime/base/file.h"
#include "tests/pipeline/workshop.h"

namespace winnow {
namespace {

void require_success(const Outcome& outcome) {
  INFO(outcome.output);
  REQUIRE(outcome.status == 0);
}

// Four fifths of what the table says of the dense network's layers, in whatever time it was taken.
double target_of(const std::string& table, const std::string& granularity) {
  const auto batch = nlohmann::json::parse(read_text_file(table))["batches"][0];
  const auto& network = batch["network"];
  const auto& fit = granularity == "channel" ? network["channels"]
                    : granularity == "mixed" ? network["mixed"]
                                             : network["granularities"][0];
  double layers = 0;
  for (const auto& layer : batch["layers"]) layers += layer["dense"]["ms"].get<double>();
  return fit["constant_ms"].get<double>() + 0.8 * fit["scale"].get<double>() * layers;
}

}  // namespace

// Times of a busy machine differ by more than the tolerance, so the numbers need only be there.
TEST_CASE("prune is asked for a time, and measures what it made") {
  const Workshop shop;
  require_success(shop.prune("--quiet"));
  const std::string dense = shop.data() + "/dense.wnw", table = shop.data() + "/times.json";
  require_success(
      shell(program("export") + " --in " + shop.file("dense.safetensors") + " -o " + dense));
  require_success(shell(
      program("runtime") + " tune " + dense +
      " --device cpu --batch 16 --vectors 1,8 --shares 0.25,0.5 --densities 0.02,0.1,0.3 --quiet" +
      " --table " + table));
  for (const std::string granularity : {"element", "channel", "mixed"}) {
    CAPTURE(granularity);
    const Outcome outcome = shop.prune(
        "--quiet --overwrite prune.budget=time prune.time_rounds=2 prune.time_tolerance=0.3 "
        "prune.granularity=" +
        granularity + " prune.target_ms=" + std::to_string(target_of(table, granularity)) +
        " prune.time_table=" + table);
    require_success(outcome);
    INFO(outcome.output);
    CHECK(outcome.output.find("time:            predicted ") != std::string::npos);
    const auto summary = nlohmann::json::parse(read_text_file(shop.file("prune.json")));
    CHECK(summary["granularity"] == granularity);
    const auto time = summary["time"];
    const double predicted = time["predicted_ms"], measured = time["measured_ms"];
    CHECK(measured > 0);
    CHECK(time["deviation"].get<double>() == doctest::Approx(measured / predicted - 1));
    CHECK(time["agrees"].get<bool>() == (std::abs(measured / predicted - 1) <= 0.3));
    CHECK(time["measurements"].size() >= 2);
    CHECK(time["measurements"].size() <= 5);
    const auto bench = nlohmann::json::parse(read_text_file(shop.file("bench.json")));
    CHECK(bench[0]["chosen"]["network_ms"]["median"] == time["measured_ms"]);
    CHECK(bench[0]["batch"] == 16);
    // What the folder holds is exported, measured and followed by the table as ever.
    require_success(shell(program("export") + " --in " + shop.file("pruned.safetensors") + " -o " +
                          shop.file("tiny.wnw")));
    require_success(
        shell(program("runtime") + " tune --table " + table + " --calibrate " + shop.file(".")));
  }
}

}  // namespace winnow
