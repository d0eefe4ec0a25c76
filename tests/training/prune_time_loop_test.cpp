// The closed loop of a budget of time, with programs that measure what the tests say.
#include <sys/stat.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "prune/timing/child_program.h"
#include "prune/timing/deployed_time.h"
#include "prune/timing/time_rounds.h"
#include "runtime/base/processor.h"
#include "runtime/base/thread_pool.h"
#include "tests/training/run_bench.h"
#include "tests/training/time_run.h"

namespace winnow {
namespace {

using Json = nlohmann::json;

// As `runtime` names this machine's processor when it uses one thread.
std::string device() {
  return cpu_device_name(1, ", baseline");
}

void write_program(const std::string& path, const std::string& script) {
  write_file_atomically(path, "#!/bin/sh\n" + script);
  REQUIRE(chmod(path.c_str(), 0755) == 0);
}

// Programs in whose world a pass takes constant + slope x (bytes of the compressed weights) ms: the
// more is pruned, the faster, and the same network always as fast.
void write_programs(const Bench& bench, const std::string& milliseconds) {
  std::filesystem::create_directory(bench.folder("programs"));
  write_program(bench.folder("programs/export"), "cp \"$2\" \"$4\"\n");
  const std::string answer = R"~([{"batch":64,"device":")~" + device() +
                             R"~(","precision":"f32",)~"
                             R"~("dense":{"error":"none"},"sparse":{"error":"none"},)~"
                             R"~("chosen":{"network_ms":{"median":%s},"layers":[]}}])~";
  write_program(bench.folder("programs/runtime"),
                "bytes=$(tail -c 2400 \"$2\" | gzip -9 -c | wc -c)\n"
                "for last; do :; done\n"
                "ms=$(" +
                    milliseconds + ")\necho \"$*\" >> '" + bench.folder("calls") + "'\nprintf '" +
                    answer + "' \"$ms\" > \"$last\"\n");
}

// A table in whose world a pass takes 0.25 + 3 x density ms.
Json even_table() {
  Json table = table_of_times();
  table["device"] = device();
  for (Json& layer : table["batches"][0]["layers"]) {
    const double dense = layer["weights"].get<double>() * 6.0 / (72 + 512);
    layer["dense"]["ms"] = dense;
    layer["granularities"] = {time_curve(1, 0.1 * dense, 0.5 * dense)};
  }
  return table;
}

RunConfig loop_run(const Bench& bench, const std::string& run, std::int64_t rounds) {
  RunConfig config = time_run(bench, run, even_table());
  config.method = {.method = Method::magnitude, .allocation = Allocation::least_loss};
  config.time_loop = {.rounds = rounds, .tolerance = 0.1, .programs = bench.folder("programs")};
  return config;
}

std::vector<Json> lines_of(const Bench& bench, const std::string& run, const char* stage) {
  std::vector<Json> lines;
  std::istringstream text(read_text_file(bench.folder(run) + "/metrics.jsonl"));
  for (std::string line; std::getline(text, line);) {
    Json json = Json::parse(line);
    if (json["stage"] == stage) lines.push_back(std::move(json));
  }
  return lines;
}

Json summary_of(const Bench& bench, const std::string& run) {
  return Json::parse(read_text_file(bench.folder(run) + "/prune.json"));
}

std::int64_t calls(const Bench& bench) {
  const std::string text = read_text_file(bench.folder("calls"));
  return std::count(text.begin(), text.end(), '\n');
}

constexpr char kLinear[] = R"(awk "BEGIN { print 1.2 + $bytes * 0.00085 }")";

}  // namespace

TEST_CASE("rehearsals correct the prediction before a network is pruned, measuring confirms it") {
  const Bench bench;
  write_programs(bench, kLinear);
  const PruneSummary summary = run_prune(loop_run(bench, "run", 3), {.is_quiet = true});
  const std::vector<Json> measured = lines_of(bench, "run", "time");
  CAPTURE(Json(measured).dump(1));
  REQUIRE(measured.size() >= 2);
  CHECK(measured.front()["network"] == "rehearsal");
  CHECK(measured.back()["network"] == "pruned");
  CHECK(std::abs(measured.back()["deviation"].get<double>()) <= 0.1);
  for (const Json& line : measured) {
    const double predicted = line["predicted_ms"], found = line["measured_ms"];
    CHECK(line["deviation"].get<double>() == doctest::Approx(found / predicted - 1));
  }
  // The first line goes through the dense network and that one.
  const double constant = measured[0]["constant_ms"], scale = measured[0]["scale"];
  CHECK(constant + scale * 6.0 == doctest::Approx(3.25));
  const Json time = summary_of(bench, "run")["time"];
  CHECK(summary.target_met);
  CHECK(summary.notice.empty());
  CHECK(time["agrees"] == true);
  CHECK(time["measured_ms"] == measured.back()["measured_ms"]);
  CHECK(time["measurements"].size() == measured.size());
  CHECK(time["measured_ms"].get<double>() <= 1.1 * time["target_ms"].get<double>());
  CHECK(calls(bench) == static_cast<std::int64_t>(measured.size()));
  CHECK(read_text_file(bench.folder("calls"))
            .find("--device cpu --batch 64 --precision f32 --threads 1") != std::string::npos);
  CHECK(Json::parse(read_text_file(bench.folder("run") + "/bench.json"))[0]["batch"] == 64);
  CHECK(!std::filesystem::exists(bench.folder("run") + "/.measuring"));
  CHECK(read_text_file(bench.folder("run") + "/report.html").find("Deployed networks, in order") !=
        std::string::npos);
}

// Every fourth call and those after it measure half as much again: the rehearsals agree, the pruned
// network does not.
TEST_CASE("a network that is not as fast as predicted is pruned again by what was measured") {
  const Bench bench;
  write_programs(bench, kLinear);
  run_prune(loop_run(bench, "plain", 3), {.is_quiet = true});
  const std::int64_t before = calls(bench);
  std::filesystem::remove(bench.folder("calls"));
  const std::string slow = "test $(cat \"" + bench.folder("calls") + "\" | wc -l) -ge " +
                           std::to_string(before - 1) + " && f=1.25 || f=1";
  write_programs(bench, slow + "; awk \"BEGIN { print $f * (1.2 + $bytes * 0.00085) }\"");
  write_file_atomically(bench.folder("calls"), "");
  const PruneSummary summary = run_prune(loop_run(bench, "run", 3), {.is_quiet = true});
  const std::vector<Json> measured = lines_of(bench, "run", "time");
  CAPTURE(Json(measured).dump(1));
  const auto rounds = measured.back()["round"].get<std::int64_t>();
  CHECK(rounds >= 2);
  CHECK(lines_of(bench, "run", "prune").size() == static_cast<std::size_t>(8 * rounds));
  CHECK(lines_of(bench, "run", "dense").size() == 2);
  const Json first = measured[measured.size() - static_cast<std::size_t>(rounds)];
  CHECK(first["deviation"].get<double>() > 0.1);
  CHECK(measured.back()["measured_ms"] < first["measured_ms"]);
  CHECK(summary.target_met);
  CHECK(summary_of(bench, "run")["sparsity"] > summary_of(bench, "plain")["sparsity"]);
}

TEST_CASE("a loop that does not meet the time says so, with the numbers") {
  const Bench bench;
  write_programs(bench, "echo 2.9");
  const PruneSummary slow = run_prune(loop_run(bench, "slow", 2), {.is_quiet = true});
  CHECK(!slow.target_met);
  CHECK(slow.shortfall.find("target of 2.167 ms is not met: predicted ") != std::string::npos);
  CHECK(slow.shortfall.find("measured 2.9 ms (+") != std::string::npos);
  CHECK(summary_of(bench, "slow")["target_met"] == false);
  CHECK(summary_of(bench, "slow")["time"]["agrees"] == false);

  write_programs(bench, "echo 0.3");
  const PruneSummary fast = run_prune(loop_run(bench, "fast", 1), {.is_quiet = true});
  CHECK(fast.target_met);
  CHECK(fast.notice.find("times differ by more than the tolerance") == 0);
}

TEST_CASE("a loop that is stopped or killed anywhere and resumed ends with the same metrics") {
  const auto change = [](RunConfig& config) { config.evolution.iter_nr = 4; };
  const Bench bench(change);
  write_programs(bench, kLinear);
  std::int64_t asked = 0;
  const auto count = [&] { return ++asked < 0; };
  RunConfig config = loop_run(bench, "whole", 2);
  config.time_loop.tolerance = 1e-6;  // every measurement has a consequence
  const auto options = [](FolderUse use, std::function<bool()> stop) {
    return PruneOptions{.use = use, .is_quiet = true, .should_stop = std::move(stop)};
  };
  run_prune(config, options(FolderUse::fresh, count));
  const std::vector<std::string> whole = bench.metrics("whole");
  REQUIRE(lines_of(bench, "whole", "time").size() == 5);
  REQUIRE(lines_of(bench, "whole", "prune").size() == 8);
  int stops = 0;
  for (std::int64_t stop = 17; stop <= asked; stop += 3) {
    CAPTURE(stop);
    config.output = bench.folder("stop" + std::to_string(stop));
    std::int64_t now = 0;
    const auto stopped = error_of(
        [&] { run_prune(config, options(FolderUse::fresh, [&] { return ++now >= stop; })); });
    if (!stopped) break;  // programs are asked about as long as they last
    ++stops;
    REQUIRE(*stopped == ErrorCode::interrupted);
    run_prune(config, options(FolderUse::resume, {}));
    CHECK(bench.metrics("stop" + std::to_string(stop)) == whole);
    CHECK((bench.pruned("stop" + std::to_string(stop)).tensors == bench.pruned("whole").tensors));

    config.output = bench.folder("kill" + std::to_string(stop));
    config.checkpoint_seconds = 1e-9;
    now = 0;
    const auto die = [&]() -> bool {
      if (++now >= stop) fail(ErrorCode::internal, "killed");
      return false;
    };
    if (!error_of([&] { run_prune(config, options(FolderUse::fresh, die)); })) break;
    run_prune(config, options(FolderUse::resume, {}));
    CHECK(bench.metrics("kill" + std::to_string(stop)) == whole);
  }
  CHECK(stops > 15);
}

TEST_CASE("networks are measured on the GPU of the run, of the card of the table") {
  TimeModel cpu, gpu;
  cpu.device = device();
  gpu.device = "cuda:0 (NVIDIA H200)";
  CHECK(device_to_measure(cpu, "cuda:1") == "cpu");
  CHECK(device_to_measure(gpu, "cuda:1") == "cuda:1");
  CHECK(device_to_measure(gpu, "auto") == "cuda");
  require_device_of(gpu, "cuda:1 (NVIDIA H200), steps as CUDA graphs");
  require_device_of(gpu, "cpu (2 threads)");  // the runtime may have a GPU
  require_device_of(cpu, "cuda:0 (NVIDIA H100 80GB HBM3)");
  const auto other = [&] { require_device_of(gpu, "cuda:0 (NVIDIA H100 80GB HBM3)"); };
  CHECK(error_of(other) == ErrorCode::usage);
  CHECK(message_of(other).find("has times of 'cuda:0 (NVIDIA H200)', this machine's device is "
                               "'cuda:0 (NVIDIA H100 80GB HBM3)'") != std::string::npos);
}

TEST_CASE("programs that are not there, fail or measure another device end the run in one line") {
  const Bench bench;
  RunConfig config = loop_run(bench, "none", 1);
  CHECK(message_of([&] {
          run_prune(config, {.is_quiet = true});
        }).find("prune.time_programs: no program '" + bench.folder("programs/export")) !=
        std::string::npos);
  CHECK(!std::filesystem::exists(bench.folder("none")));

  write_programs(bench, "echo 1");
  write_program(bench.folder("programs/runtime"),
                "echo one >&2; echo 'runtime: no GPU' >&2; exit 4");
  const auto run = [&](const char* name) {
    config.output = bench.folder(name);
    run_prune(config, {.is_quiet = true});
  };
  CHECK(error_of([&] { run("a"); }) == ErrorCode::device);
  CHECK(message_of([&] { run("b"); }) == "runtime: no GPU: exit status 4");
  CHECK(!std::filesystem::exists(bench.folder("b") + "/.measuring"));

  const auto answers = [&](const char* name, const std::string& text) {
    write_program(bench.folder("programs/runtime"),
                  "for last; do :; done\nprintf '" + text + "' > \"$last\"\n");
    return message_of([&] { run(name); });
  };
  CHECK(answers("d", "no").ends_with("bench.json: not what runtime bench --json writes"));
  CHECK(answers("e", R"~([{"device": ")~" + device() + R"~("}])~")
            .find("bench.json: [0].chosen.network_ms.median: found 'nothing', expected ") !=
        std::string::npos);

  write_programs(bench, "echo 1");
  Json other = table_of_times();
  other["device"] = "cuda:0 (any)";
  write_file_atomically(config.time_table, other.dump());
  CHECK(message_of([&] { run("c"); })
            .ends_with("prune.time_table: has times of 'cuda:0 (any)', this machine's device is '" +
                       device() + "'"));
}

TEST_CASE("a table of another processor or of more threads is refused before anything is trained") {
  const Bench bench;
  write_programs(bench, "echo 1");
  RunConfig config = loop_run(bench, "run", 1);
  for (const std::string& other :
       {std::string("cpu (Another Processor, 1 thread, baseline)"), std::string("cpu (any)"),
        std::string(" thread"), std::string("tpu"), cpu_device_name(0, ", baseline"),
        cpu_device_name(-1, ", baseline"), cpu_device_name(1, ", neon"),
        cpu_device_name(available_cores() + 1, ", baseline")}) {
    Json table = even_table();
    table["device"] = other;
    write_file_atomically(config.time_table, table.dump());
    const auto run = [&] { run_prune(config, {.is_quiet = true}); };
    const auto dry_run = [&] { describe_run(config, {.is_quiet = true}); };
    CHECK(error_of(run) == ErrorCode::usage);
    CHECK(error_of(dry_run) == ErrorCode::usage);
    CHECK(message_of(run).find("prune.time_table: has times of '" + other + "', this machine's") !=
          std::string::npos);
    CHECK(!std::filesystem::exists(bench.folder("run")));
  }
}

TEST_CASE("a program that runs is ended when its caller is stopped") {
  const TemporaryDirectory directory;
  write_program(directory / "sleeper", "exec sleep 60");
  int asked = 0;
  CHECK(error_of([&] { run_child({directory / "sleeper"}, [&] { return ++asked > 2; }); }) ==
        ErrorCode::interrupted);
  CHECK(error_of([&] { run_child({directory / "nothing"}, {}); }) == ErrorCode::device);
  write_program(directory / "killed", "kill -9 $$");
  CHECK(message_of([&] { run_child({directory / "killed"}, {}); }).find("ended by signal 9") !=
        std::string::npos);
  CHECK(std::filesystem::exists(own_folder() + "/training_tests"));
}

}  // namespace winnow
