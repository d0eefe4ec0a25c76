// `runtime tune` and --cache: what is kept, what is taken from it, what is said of damage.
#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "runtime/base/version.h"
#include "runtime/cli/program.h"
#include "runtime/plan/timing_cache.h"
#include "tests/commands/desk.h"

namespace winnow {
namespace {

std::string cache_of(const Desk& desk) {
  return desk.file("cache/timings.jsonl");
}

std::string with_cache(const Desk& desk) {
  return "--device cpu --quiet --cache " + desk.file("cache") + " ";
}

// Of the layers that were measured with fewer channels.
std::vector<std::array<int, 2>> sizes_of(const nlohmann::json& layer) {
  std::vector<std::array<int, 2>> sizes;
  for (const nlohmann::json& point : layer["channels"]) {
    sizes.push_back({point["outputs"].get<int>(), point["inputs"].get<int>()});
  }
  return sizes;
}

}  // namespace

TEST_CASE("tune fills the cache, after which no command measures anything") {
  const Desk desk;
  const nlohmann::json json = desk.json_of("tune", with_cache(desk) + "--batch 1,3");
  CHECK(json["command"] == "tune");
  CHECK(json["version"] == version_text());
  CHECK(json["model"] == desk.model());
  CHECK(json["device"].get<std::string>().starts_with("cpu ("));
  CHECK(json["precision"] == "f32");
  CHECK(json["cache"] == cache_of(desk));
  REQUIRE(json["batches"].size() == 2);
  CHECK(json["batches"][1]["batch"] == 3);
  for (const nlohmann::json& batch : json["batches"]) {
    CHECK(batch["timings"]["measured"] > 0);
    REQUIRE(batch["layers"].size() == 3);
    const nlohmann::json& conv = batch["layers"][0];
    CHECK(conv["name"] == "conv");
    CHECK(conv["ms"] > 0.0);
    CHECK(conv["min_ms"] <= conv["ms"]);
    CHECK(conv["cold_ms"] > 0.0);
    CHECK(conv["kernels_timed"] >= 2);
    CHECK(conv["runner_up"]["kernel"] != conv["kernel"]);
    CHECK(conv["runner_up"]["ms"] > 0.0);
    CHECK(conv["rejected"].empty());
    CHECK(!batch["layers"][1].contains("ms"));  // flatten
  }
  const nlohmann::json verify = desk.json_of("verify", with_cache(desk) + "--batch 3");
  CHECK(verify["timings"]["measured"] == 0);
  CHECK(verify["timings"]["cached"] > 0);
  const std::string quick = "--repeats 4 --layer-repeats 1 --warm-up 0 --batch 1,3";
  for (const nlohmann::json& one : desk.json_of("bench", with_cache(desk) + quick)) {
    for (const char* plan : {"dense", "sparse", "chosen"}) {
      CHECK(one[plan]["timings"]["measured"] == 0);
    }
    CHECK(one["chosen"]["layers"][0]["candidates"].size() >= 2);
  }
  const nlohmann::json again = desk.json_of("tune", with_cache(desk) + "--batch 1,3");
  CHECK(again["batches"][0]["timings"]["measured"] == 0);
  CHECK(again["batches"][0]["layers"] == json["batches"][0]["layers"]);
  const nlohmann::json renewed = desk.json_of("tune", with_cache(desk) + "--batch 1 --again");
  CHECK(renewed["batches"][0]["timings"]["cached"] == 0);
}

TEST_CASE("the cache is the environment's where no folder is named") {
  const Desk desk;
  const std::string environment = "WINNOW_CACHE=" + desk.file("cache") + " ";
  const std::string call = program("runtime") + " verify " + desk.model() + " --device cpu --quiet";
  CHECK(shell(environment + call).status == 0);
  CHECK(std::filesystem::exists(cache_of(desk)));
  const std::string before = read_text_file(cache_of(desk));
  CHECK(shell(environment + call + " --batch 7 --cache ''").status == 0);  // none
  CHECK(shell(call + " --batch 7").status == 0);
  CHECK(read_text_file(cache_of(desk)) == before);
}

TEST_CASE("the tables of tune show each layer's kernel and the runner-up") {
  const Desk desk;
  const Outcome outcome = desk.run("tune", with_cache(desk) + "--batch 2");
  INFO(outcome.output);
  CHECK(outcome.status == 0);
  CHECK(outcome.output.find(", batch 2: ") != std::string::npos);
  CHECK(cells_of(outcome.output, "layer") ==
        std::vector<std::string>{"layer", "op", "ms", "cold ms", "kernel", "next ms", "runner-up"});
  CHECK(cells_of(outcome.output, "conv").size() == 7);
  CHECK(cells_of(outcome.output, "flat").size() == 5);
}

TEST_CASE("tune names kernels that were rejected") {
  const Desk desk;
  desk.json_of("tune", with_cache(desk) + "--batch 2");
  TimingCache cache(desk.file("cache"));
  std::istringstream lines(read_text_file(cache_of(desk)));
  std::string kernel;
  for (std::string line; std::getline(lines, line);) {
    const TimingEntry entry = *entry_of(line);
    if (!kernel.empty() || !entry.key.starts_with("conv2d")) continue;
    kernel = entry.key.substr(entry.key.find(" | ") + 3);
    kernel = kernel.substr(0, kernel.find(" | "));
    cache.keep(entry.place, entry.key, rejected_for("is off by 2.1e-02"));
  }
  const std::string options = with_cache(desk) + "--batch 2";
  const Outcome outcome = desk.run("tune", options);
  INFO(outcome.output);
  CHECK(outcome.output.find("rejected for conv: " + kernel + " is off by 2.1e-02\n") !=
        std::string::npos);
  const nlohmann::json conv = desk.json_of("tune", options)["batches"][0]["layers"][0];
  CHECK(conv["kernel"] != kernel);
  REQUIRE(conv["rejected"].size() == 1);
  CHECK(conv["rejected"][0]["kernel"] == kernel);
  CHECK(conv["rejected"][0]["reason"] == "is off by 2.1e-02");
}

TEST_CASE("a damaged cache costs one line and nothing else") {
  const Desk desk;
  desk.json_of("tune", with_cache(desk) + "--batch 2");
  const std::string good = read_text_file(cache_of(desk));
  const auto verify = [&](const std::string& text) {
    write_file_atomically(cache_of(desk), text);
    const Outcome outcome = desk.run("verify", with_cache(desk) + ">/dev/null");
    INFO(outcome.output);
    CHECK(outcome.status == 0);
    return outcome.output;
  };
  const std::string head = "runtime: cache of timings: " + cache_of(desk) + ": ";
  CHECK(verify(good) == "");
  CHECK(verify(good + "{\"device\":\"x\"") == "");  // torn
  CHECK(verify(good + "\x1b[2J\n\n[1e999]\n") == head +
                                                     "ignored 2 lines that are no timings, first " +
                                                     std::to_string(lines_in(good) + 1) + "\n");
  std::string foreign = good;
  for (std::size_t at = 0; (at = foreign.find("\"cpu (", at)) != std::string::npos;) {
    foreign.replace(at, 6, "\"gpu (");
  }
  CHECK(verify(foreign) == head + "none of its " + std::to_string(lines_in(good)) +
                               " timings is of this device and these versions\n");
  std::filesystem::remove(cache_of(desk));
  std::filesystem::create_directory(cache_of(desk));
  const Outcome outcome = desk.run("verify", with_cache(desk) + ">/dev/null");
  CHECK(outcome.status == 0);
  CHECK(outcome.output == head + "not a regular file\n");
  check_refusal(desk.run("tune", with_cache(desk)), 2,
                {"cache of timings: " + cache_of(desk) + ": not a regular file"});
}

TEST_CASE("tune refuses to work for nothing") {
  const Desk desk;
  check_refusal(desk.run("tune"), 2, {"give --cache DIR or set WINNOW_CACHE, or --table FILE"});
  check_refusal(desk.run("tune", "--cache /proc/none"), 2, {"/proc/none: cannot make the folder"});
  check_refusal(desk.run("tune", "--cahce x"), 2, {"did you mean '--cache'?"});
  check_refusal(desk.run("tune", "--table /nowhere/x"), 2, {"/nowhere/x"});
  check_refusal(desk.run("tune", "--table " + desk.model()), 2, {"would replace the input"});
  check_refusal(desk.run("tune", "--table x --json y"), 2, {"--json"});
  check_refusal(desk.run("tune", "--densities 0.5"), 2, {"--table"});
  check_refusal(desk.run("tune", "--dense-among-sparse"), 2, {"--table"});
  const std::string table = "--device cpu --table " + desk.file("t.json") + " ";
  check_refusal(desk.run("tune", table + "--densities 0.5,0.1,0.5"), 2, {"0.5 is there twice"});
  check_refusal(desk.run("tune", table + "--densities 1"), 2, {"a number from 0.0001 to 0.9999"});
  check_refusal(desk.run("tune", table + "--vectors 4"), 2, {"--vectors"});
  check_refusal(desk.run("tune", table + "--shares 0.5,0.5"), 2, {"--shares: 0.5 is there twice"});
  check_refusal(desk.run("tune", table + "--no-channels --shares 0.5"), 2, {"--shares"});
  CHECK(!std::filesystem::exists(desk.file("t.json")));
}

// The table that tune writes with these options, once what it prints has these columns.
nlohmann::json table_of(const Desk& desk, const std::string& options,
                        const std::vector<std::string>& columns) {
  const std::string path = desk.file("table.json");
  const Outcome outcome =
      desk.run("tune", "--device cpu --quiet --densities 0.5,0.1 --vectors 1,16 " + options +
                           " --table " + path);
  INFO(outcome.output);
  REQUIRE(outcome.status == 0);
  CHECK(cells_of(outcome.output, "layer") == columns);
  return nlohmann::json::parse(read_text_file(path));
}

TEST_CASE("tune measures layers dense among sparse ones where that is asked for") {
  const Desk desk;
  const auto json =
      table_of(desk, "--batch 2 --no-channels --dense-among-sparse",
               {"layer", "vector", "10 %", "50 %", "dense ms", "dense among sparse ms"});
  for (const nlohmann::json& layer : json["batches"][0]["layers"]) {
    for (const nlohmann::json& curve : layer["granularities"]) {
      CHECK(curve["dense_among_sparse_ms"] >= curve["points"][0]["ms"]);
    }
  }
}

TEST_CASE("tune writes a complete table of times that do not fall with the density") {
  const Desk desk;
  const auto json =
      table_of(desk, "--batch 1,2 --shares 0.5", {"layer", "vector", "10 %", "50 %", "dense ms"});
  CHECK(json["command"] == "tune");
  CHECK(json["version"] == version_text());
  CHECK(json["seed"] == 7);
  CHECK(json["format"] == 2);
  REQUIRE(json["batches"].size() == 2);
  for (const nlohmann::json& batch : json["batches"]) {
    const nlohmann::json& network = batch["network"];
    CHECK(network["dense_ms"] > 0.0);
    REQUIRE(network["granularities"].size() == 2);
    for (const nlohmann::json& masked : network["granularities"]) {
      CHECK(masked["density"] == 0.1);
      CHECK(masked["ms"] > 0.0);
      CHECK(masked["constant_ms"] >= 0.0);
      CHECK(masked["scale"] > 0.0);
    }
    CHECK(network["mixed"]["density"] == 0.1);
    CHECK(network["channels"]["share"] == 0.5);
    for (const char* kind : {"mixed", "channels"}) {
      CHECK(network[kind]["ms"] > 0.0);
      CHECK(network[kind]["constant_ms"] >= 0.0);
      CHECK(network[kind]["scale"] > 0.0);
    }
    REQUIRE(batch["layers"].size() == 2);
    CHECK(sizes_of(batch["layers"][0]) == std::vector<std::array<int, 2>>{{1, 1}, {2, 1}});
    CHECK(sizes_of(batch["layers"][1]) == std::vector<std::array<int, 2>>{{2, 4}, {2, 8}});
    CHECK(batch["layers"][0]["name"] == "conv");
    CHECK(batch["layers"][1]["name"] == "fc");
    for (const nlohmann::json& layer : batch["layers"]) {
      CHECK(layer["dense"]["family"] == "dense");
      const double dense = layer["dense"]["ms"].get<double>();
      CHECK(dense > 0);
      CHECK(layer["input_shape"][0] == batch["batch"]);
      CHECK(layer["weights"] == (layer["name"] == "conv" ? 8 : 16));
      const nlohmann::json& less = layer["channels"][0];
      const nlohmann::json& all = layer["channels"][1];
      CHECK(less["ms"] > 0.0);
      CHECK(less["ms"] <= all["ms"]);
      CHECK(all["measured_ms"] == dense);
      CHECK(all["family"] == "dense");
      REQUIRE(layer["granularities"].size() == 2);
      CHECK(layer["granularities"][1]["vector"] == 16);
      for (const nlohmann::json& curve : layer["granularities"]) {
        REQUIRE(curve["points"].size() == 2);
        const nlohmann::json& thin = curve["points"][0];
        const nlohmann::json& thick = curve["points"][1];
        CHECK(thin["density"] == 0.1);
        CHECK(thick["density"] == 0.5);
        CHECK(thin["ms"] > 0.0);
        CHECK(thin["ms"] <= thick["ms"]);
        CHECK(thick["ms"].get<double>() <= dense);
        CHECK(thin["ms"] <= thin["measured_ms"]);
        CHECK(!thin["kernel"].get<std::string>().empty());
      }
    }
  }
}

TEST_CASE("tune leaves channels out of a table where they are not wanted") {
  const Desk desk;
  const std::string path = desk.file("table.json");
  const Outcome outcome = desk.run(
      "tune",
      "--device cpu --quiet --batch 1 --densities 0.1 --vectors 16 --no-channels --table " + path);
  INFO(outcome.output);
  REQUIRE(outcome.status == 0);
  const auto batch = nlohmann::json::parse(read_text_file(path))["batches"][0];
  CHECK(!batch["network"].contains("channels"));
  CHECK(!batch["network"].contains("mixed"));
  CHECK(!batch["layers"][0].contains("channels"));
}

TEST_CASE("tune that is interrupted keeps what it has measured") {
  const Desk desk;
  const std::string call = program("runtime") + " tune " + desk.model() + " --device cpu --cache " +
                           desk.file("cache") + " --batch ";
  const Stopped stopped = stop_at(call + "1,2,4096,2048,1024,512,300,200,100", "batch 2", SIGINT);
  INFO(stopped.output);
  REQUIRE(stopped.is_hit);
  CHECK(stopped.status == 130);
  CHECK(stopped.output.find("runtime: interrupted: what was measured is kept in " +
                            cache_of(desk)) != std::string::npos);
  const nlohmann::json json = desk.json_of("tune", with_cache(desk) + "--batch 1");
  CHECK(json["batches"][0]["timings"]["measured"] == 0);
}

}  // namespace winnow
