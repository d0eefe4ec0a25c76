#include "runtime/bench/time_calibration.h"

#include <doctest/doctest.h>

#include <filesystem>

#include "runtime/base/file.h"
#include "tests/temporary_directory.h"
#include "tests/throws.h"

namespace winnow {
namespace {

using Json = nlohmann::ordered_json;

Json table() {
  const auto fit = [](int vector) {
    return Json{{"vector", vector}, {"constant_ms", 1.0}, {"scale", 1.0}};
  };
  return {{"command", "tune"},
          {"device", "gpu"},
          {"precision", "f16"},
          {"batches",
           {{{"batch", 1}},
            {{"batch", 128},
             {"network", {{"dense_ms", 11.0}, {"granularities", {fit(1), fit(16)}}}},
             {"layers", {{{"dense", {{"ms", 6.0}}}}, {{"dense", {{"ms", 4.0}}}}}}}}}};
}

// Predicted by 1 + 1 * 3 ms.
Json prune() {
  return {{"granularity", "vector16"},
          {"time",
           {{"device", "gpu"},
            {"precision", "f16"},
            {"batch", 128},
            {"predicted_ms", 4.0},
            {"constant_ms", 1.0},
            {"scale", 1.0}}}};
}

Json bench(double ms) {
  const auto of_batch = [&](int batch, double median) {
    return Json{{"device", "gpu"},
                {"precision", "f16"},
                {"batch", batch},
                {"chosen", {{"network_ms", {{"median", median}}}}}};
  };
  return Json::array({of_batch(1, 0.1), of_batch(128, ms)});
}

class Run {
 public:
  Run() {
    write("prune.json", prune());
    write("bench.json", bench(5.4));
  }
  void write(const char* name, const Json& json) const {
    write_file_atomically(folder / name, json.dump());
  }
  std::string refusal(ErrorCode code) const {
    Json copy = table();
    const auto act = [&] { calibrate(copy, "t.json", folder.path()); };
    CHECK(error_of(act) == code);
    std::string message = message_of(act);
    CHECK(message.find('\n') == std::string::npos);
    const auto at = message.find(folder / "");
    return at == std::string::npos ? message : message.erase(at, (folder / "").size());
  }
  TemporaryDirectory folder;
};

}  // namespace

TEST_CASE("a calibrated table predicts what was measured, and the dense network as before") {
  const Run run;
  Json json = table();
  const TimeCalibration found = calibrate(json, "t.json", run.folder.path());
  CHECK((found.batch == 128 && found.granularity == "vector16"));
  CHECK(found.predicted_ms == 4.0);
  CHECK(found.measured_ms == 5.4);
  const Json& granularities = json["batches"][1]["network"]["granularities"];
  CHECK(granularities[0] == table()["batches"][1]["network"]["granularities"][0]);
  const double constant = granularities[1]["constant_ms"].get<double>();
  const double scale = granularities[1]["scale"].get<double>();
  CHECK(constant + scale * 3 == doctest::Approx(5.4));
  CHECK(constant + scale * 10 == doctest::Approx(11.0));
  CHECK(granularities[1]["calibrated"]["measured_ms"] == 5.4);
  CHECK(json["batches"][1]["layers"] == table()["batches"][1]["layers"]);

  const Json once = json;  // the same run says the same again
  calibrate(json, "t.json", run.folder.path());
  CHECK(json == once);
}

TEST_CASE("runs of whole channels and of mixed granularities correct their own lines") {
  for (const char* granularity : {"channel", "mixed"}) {
    const Run run;
    const std::string key = granularity == std::string("channel") ? "channels" : "mixed";
    Json of_run = prune();
    of_run["granularity"] = granularity;
    run.write("prune.json", of_run);
    CHECK(run.refusal(ErrorCode::usage) == "t.json: nothing of " + std::string(granularity));
    Json json = table();
    Json& network = json["batches"][1]["network"];
    network[key] = {{"share", 0.5}, {"constant_ms", 1.0}, {"scale", 1.0}};
    CHECK(calibrate(json, "t.json", run.folder.path()).granularity == granularity);
    CHECK(network[key]["scale"].get<double>() == doctest::Approx((11.0 - 5.4) / (10 - 3)));
    CHECK(network[key]["share"] == 0.5);
    CHECK(network["granularities"] == table()["batches"][1]["network"]["granularities"]);
  }
}

TEST_CASE("a table is calibrated by runs of its device, batch, precision and granularity alone") {
  const Run run;
  Json other = prune();
  other.erase("time");
  run.write("prune.json", other);
  CHECK(run.refusal(ErrorCode::usage) == "prune.json: no 'time': the run's budget was another one");
  other = prune();
  other["granularity"] = "vector8";
  run.write("prune.json", other);
  CHECK(run.refusal(ErrorCode::usage) == "t.json: nothing of vector 8");
  other = prune();
  other["time"]["batch"] = 64;
  run.write("prune.json", other);
  CHECK(run.refusal(ErrorCode::usage) == "bench.json: nothing of batch 64");
  run.write("prune.json", prune());
  other = bench(5.4);
  other[1]["precision"] = "f32";
  run.write("bench.json", other);
  CHECK(run.refusal(ErrorCode::usage) ==
        "bench.json: found precision '\"f32\"', the table has '\"f16\"'");
  other[1] = {{"device", "gpu"}, {"precision", "f16"}, {"batch", 128}};
  run.write("bench.json", other);
  CHECK(run.refusal(ErrorCode::bad_file).find("t.json, ") == 0);
  run.write("bench.json", "no object");
  run.refusal(ErrorCode::bad_file);
  std::filesystem::remove(run.folder / "bench.json");
  run.refusal(ErrorCode::bad_file);
}

}  // namespace winnow
