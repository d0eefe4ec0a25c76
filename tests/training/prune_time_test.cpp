// Runs with a budget of time, and the tables that they read.
#include <doctest/doctest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "export/export_model.h"
#include "prune/timing/time_table.h"
#include "prune/training/trainability.h"
#include "tests/training/run_bench.h"
#include "tests/training/time_run.h"

namespace winnow {
namespace {

using Json = nlohmann::json;

}  // namespace

TEST_CASE("a table of times is read as runtime tune writes it") {
  const Bench bench;
  const TimeModel time = *with_times(time_run(bench, "a", table_of_times())).evolution.time;
  CHECK(time.device == "cpu (any)");
  CHECK((time.precision == "f32" && time.batch == 64 && time.vector == 1));
  CHECK((time.dense_ms == 3.25 && time.constant_ms == 0.25 && time.scale == 0.5));
  REQUIRE(time.layers.size() == 2);
  CHECK(time.layers[1].name == "linear");
  CHECK(time.layers[1].weights == 512);
  CHECK(time.layers[1].points == std::vector<std::pair<double, double>>{{0.1, 0.4}, {0.5, 2.0}});
}

TEST_CASE("among sparse layers a mask runs as it is, as a denser one or dense at what that takes") {
  const Bench bench;
  Json table = table_of_times();
  Json& curve = table["batches"][0]["layers"][0]["granularities"][0];
  curve["points"] = {{{"density", 0.1}, {"ms", 0.5}, {"measured_ms", 0.5}},
                     {{"density", 0.3}, {"ms", 2.0}, {"measured_ms", 3.0}},
                     {{"density", 0.4}, {"ms", 2.0}, {"measured_ms", 2.0}},
                     {{"density", 0.5}, {"ms", 4.0}, {"measured_ms", 7.0}}};
  const auto points = [&](double dense) {
    curve["dense_among_sparse_ms"] = dense;
    const TimeModel time = *with_times(time_run(bench, "a", table)).evolution.time;
    CHECK(time.layers[0].dense_ms == 4.0);
    CHECK(CostCurve::time(time.layers[0], 1.0).at(72) == dense);
    return time.layers[0].points;
  };
  using Points = std::vector<std::pair<double, double>>;
  CHECK(points(6.0) == Points{{0.1, 0.5}, {0.3, 2.0}, {0.4, 2.0}, {0.5, 6.0}});
  CHECK(points(8.0) == Points{{0.1, 0.5}, {0.3, 2.0}, {0.4, 2.0}, {0.5, 7.0}});
  CHECK(points(1.0) == Points{{0.1, 0.5}, {0.3, 1.0}, {0.4, 1.0}, {0.5, 1.0}});
  curve["dense_among_sparse_ms"] = 0.0;
  CHECK(error_of([&] { with_times(time_run(bench, "a", table)); }) == ErrorCode::bad_file);
}

TEST_CASE("runs meet a time, and say what the table predicts") {
  const Bench bench;
  for (const Method method : {Method::evolutionary, Method::magnitude, Method::lottery}) {
    const std::string run(to_string(method));
    CAPTURE(run);
    RunConfig config = time_run(bench, run, table_of_times());
    config.method = {.method = method, .allocation = Allocation::least_loss, .rounds = 2};
    CHECK(run_prune(config, {.is_quiet = true}).target_met);
    const Json json = Json::parse(read_text_file(bench.folder(run) + "/prune.json"));
    CHECK(!json.contains("target_sparsity"));
    const Json& time = json["time"];
    CHECK(time["target_ms"].get<double>() == doctest::Approx(3.25 / 1.5));
    const double predicted = time["predicted_ms"].get<double>();
    CHECK(predicted <= 3.25 / 1.5);
    CHECK(time["predicted_speedup"].get<double>() == doctest::Approx(3.25 / predicted));
    CAPTURE(json["layers"].dump());
    CAPTURE(time.dump());
    const TimeModel model = *with_times(config).evolution.time;
    double sum = model.constant_ms;
    for (std::size_t i = 0; i < 2; ++i) {
      sum += CostCurve::time(model.layers[i], model.scale)
                 .at(json["layers"][i]["nonzeros"].get<double>());
    }
    CHECK(predicted == doctest::Approx(sum).epsilon(0.02));  // a kept weight may be 0
  }
}

TEST_CASE("a run does not go on under another table") {
  const Bench bench;
  RunConfig config = time_run(bench, "run", table_of_times());
  int batches = 0;
  CHECK(error_of([&] {
          run_prune(config, {.is_quiet = true, .should_stop = [&] { return ++batches > 30; }});
        }) == ErrorCode::interrupted);
  Json other = table_of_times();
  other["batches"][0]["layers"][0]["dense"]["ms"] = 4.5;
  time_run(bench, "run", other);
  PruneOptions resume{.is_quiet = true};
  resume.use = FolderUse::resume;
  CHECK(message_of([&] { run_prune(config, resume); }).find("checksum of prune.time_table") !=
        std::string::npos);
  time_run(bench, "run", table_of_times());
  CHECK(run_prune(config, resume).target_met);
}

TEST_CASE("tables that are damaged or lack what is wanted are refused in one line") {
  const Bench bench;
  const auto refusal = [&](const Json& json, ErrorCode code, auto change) {
    RunConfig config = time_run(bench, "a", json);
    change(config);
    CHECK(error_of([&] { with_times(config); }) == code);
    std::string message = message_of([&] { with_times(config); });
    if (const auto key = message.find(": prune."); key != std::string::npos) {
      message.erase(0, key + 2);  // the configuration's place
    }
    const std::string prefix = bench.folder("");
    for (auto at = message.find(prefix); at != std::string::npos; at = message.find(prefix)) {
      message.erase(at, prefix.size());
    }
    return message;
  };
  const auto damaged = [&](const char* pointer, const Json& value) {
    Json json = table_of_times();
    json[Json::json_pointer(pointer)] = value;
    return refusal(json, ErrorCode::bad_file, [](RunConfig&) {});
  };
  const RunConfig cut = time_run(bench, "cut", table_of_times());
  std::filesystem::resize_file(cut.time_table, 500);
  CHECK(message_of([&] { run_prune(cut, {.is_quiet = true}); }) ==
        cut.time_table +
            ": is no JSON, or was cut short; expected what runtime tune --table writes");
  CHECK(damaged("/command", "bench") ==
        "times.json: no table of times, expected what runtime tune --table writes");
  CHECK(damaged("/batches/0/network", nullptr) ==
        "times.json: batches[0].network.dense_ms: found 'nothing', expected milliseconds, more "
        "than 0");
  CHECK(damaged("/batches/0/layers/1/dense/ms", -1).find("layers[1].dense.ms: found '-1'") !=
        std::string::npos);
  CHECK(damaged("/batches/0/layers/0/granularities/0/points/1/ms", 0.1)
            .find("points[1].ms: found '0.1', expected no less than at a lower density") !=
        std::string::npos);
  CHECK(damaged("/batches/0/layers/0/granularities/0/points/1/density", 0.1)
            .find("expected a larger density") != std::string::npos);
  const auto unwanted = [&](auto change) {
    return refusal(table_of_times(), ErrorCode::usage, change);
  };
  CHECK(unwanted([](RunConfig& config) { config.time_batch = 32; }) ==
        "prune.time_batch: found 32, expected one of the batch sizes of 'times.json': 64");
  CHECK(unwanted([](RunConfig& config) { config.stage.vector = 16; }) ==
        "prune.granularity: 'times.json' has no times of vector16; measure them with runtime tune "
        "--table --vectors 16");
  CHECK(damaged("/format", 3) ==
        "times.json: format: found '3', expected a number up to 2; this program is older");
}

TEST_CASE("a depthwise layer of 1 x 1 in a table may be a batch norm of the network") {
  const Bench bench;
  Json json = table_of_times();
  Json norm = time_layer("norm", 8, 0.5);
  norm["input_shape"] = norm["output_shape"] = {64, 8, 8, 8};
  json["batches"][0]["layers"].push_back(norm);
  RunConfig config = time_run(bench, "a", json);
  CHECK(with_times(config).evolution.time->layers[2].is_scale);
  CHECK(!with_times(config).evolution.time->layers[0].is_scale);
  CHECK(run_prune(config, {.is_quiet = true}).target_met);
  json["batches"][0]["layers"][2]["weights"] = 64;
  config = time_run(bench, "b", json);
  CHECK(message_of([&] {
          run_prune(config, {.is_quiet = true});
        }).find("the network has no layer 'norm'") != std::string::npos);
}

TEST_CASE("times of whole channels are read as runtime tune writes them") {
  const Bench bench;
  const auto channels = [&](const Json& json) {
    RunConfig config = time_run(bench, "a", json);
    config.stage.vector = kWholeChannels;
    return config;
  };
  const TimeModel time = *with_times(channels(table_of_times())).evolution.time;
  CHECK((time.vector == 0 && time.layers.empty() && time.channels.size() == 2));
  CHECK(time.channels[0].outputs == std::vector<std::int64_t>{2, 4, 8});
  CHECK(time.channels[0].inputs == std::vector<std::int64_t>{1});
  CHECK(time.channels[1].inputs == std::vector<std::int64_t>{64, 128});
  CHECK(time.channels[1].ms == std::vector<double>{1.5, 2.0});
  CHECK(dense_layers_ms(time) == 6.0);

  const auto refusal = [&](const char* pointer, const Json& value, ErrorCode code) {
    Json json = table_of_times();
    json[Json::json_pointer(pointer)] = value;
    const RunConfig config = channels(json);
    CHECK(error_of([&] { with_times(config); }) == code);
    return message_of([&] { with_times(config); });
  };
  const std::string layer = "/batches/0/layers/0/channels";
  CHECK(refusal((layer + "/2/ms").c_str(), 1.5, ErrorCode::bad_file)
            .find("layers[0].channels[2].ms: found '1.5', expected no less than with fewer") !=
        std::string::npos);
  CHECK(refusal((layer + "/2/outputs").c_str(), 3, ErrorCode::bad_file)
            .find("expected all pairs of rising numbers of outputs and inputs") !=
        std::string::npos);
  CHECK(refusal((layer + "/1/inputs").c_str(), 2, ErrorCode::bad_file)
            .find("channels[1].inputs: found '2', expected 1") != std::string::npos);
  Json first = table_of_times();  // as it was written before there were channels
  first.erase("format");
  first["batches"][0]["network"].erase("channels");
  for (Json& one : first["batches"][0]["layers"]) one.erase("channels");
  const RunConfig config = channels(first);
  CHECK(error_of([&] { with_times(config); }) == ErrorCode::usage);
  CHECK(message_of([&] { with_times(config); })
            .find("times.json' has no times of whole channels; "
                  "measure them with runtime tune --table") != std::string::npos);
  RunConfig elements = config;
  elements.stage.vector = 1;
  CHECK(with_times(elements).evolution.time->layers.size() == 2);
}

TEST_CASE("runs of whole channels meet a time with every method") {
  const Bench bench;
  for (const Method method :
       {Method::evolutionary, Method::magnitude, Method::lottery, Method::fssl}) {
    const std::string run(to_string(method));
    CAPTURE(run);
    RunConfig config = time_run(bench, run, table_of_times());
    config.stage.vector = kWholeChannels;
    config.method = {.method = method,
                     .allocation = Allocation::least_loss,
                     .rounds = 2,
                     .time_strength = method == Method::fssl ? 1e-4 : 0.0,
                     .between_channels = 1.0};
    CHECK(run_prune(config, {.is_quiet = true}).target_met);
    const ExportedModel exported = export_model(bench.pruned(run), {});
    const auto outputs =
        static_cast<double>(std::get<Conv>(exported.model.graph.nodes[1].op).out_channels);
    const Json time = Json::parse(read_text_file(bench.folder(run) + "/prune.json"))["time"];
    // 1 to 2 ms of the convolution up to 4 channels, 4 ms at 8; the linear layer has 16 inputs of
    // each.
    const double conv = outputs <= 4 ? std::max(1.0, outputs / 2) : 2.0 + (outputs - 4) / 2;
    const double linear = 1.5 + 0.5 * std::max(0.0, (16 * outputs - 64) / 64);
    CHECK(time["predicted_ms"].get<double>() == doctest::Approx(0.25 + 0.5 * (conv + linear)));
    CHECK(time["predicted_ms"].get<double>() <= 3.25 / 1.5);
  }
}

}  // namespace winnow
