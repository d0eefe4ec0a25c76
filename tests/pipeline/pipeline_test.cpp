// The four programs as a user runs them, on 512 small images.
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "runtime/base/file.h"
#include "runtime/base/folder_lock.h"
#include "tests/pipeline/run_results.h"
#include "tests/pipeline/shell.h"
#include "tests/pipeline/workshop.h"

namespace winnow {
namespace {

nlohmann::json json_of(const std::string& path) {
  return nlohmann::json::parse(read_text_file(path));
}

void require_success(const Outcome& outcome) {
  INFO(outcome.output);
  REQUIRE(outcome.status == 0);
}

// Exit status and one line that holds every one of `parts`.
void check_refusal(const Outcome& outcome, int status, const std::vector<std::string>& parts) {
  INFO(outcome.output);
  CHECK(outcome.status == status);
  for (const std::string& part : parts) CHECK(outcome.output.find(part) != std::string::npos);
  CHECK(outcome.output.find("terminate") == std::string::npos);
}

TEST_CASE("images go through prune, quantize, export and runtime") {
  const Workshop shop;
  require_success(shop.prune());
  require_success(shell(program("quantize") + " --in " + shop.file("pruned.safetensors") +
                        " --scheme 4b/16b --device cpu"));
  const std::string model = shop.file("tiny.wnw"), dense = shop.file("dense.wnw");
  require_success(
      shell(program("export") + " --in " + shop.file("dense.safetensors") + " -o " + dense));
  require_success(
      shell(program("export") + " --in " + shop.file("quantized.safetensors") + " -o " + model));
  require_success(shell(program("runtime") + " run " + model + " --against " + dense +
                        " --device cpu --data idx:" + shop.data() + " --json " +
                        shop.file("run.json")));
  require_success(shell(program("runtime") + " verify " + model + " --device cpu"));
  require_success(
      shell(program("runtime") + " inspect " + model + " --json " + shop.file("inspect.json")));
  require_success(shell(program("runtime") + " bench " + model +
                        " --device cpu --batch 1,8 --repeats 4 --layer-repeats 2 --warm-up 1" +
                        " --json " + shop.file("bench.json")));
  require_success(shell(program("runtime") + " report " + shop.run()));

  const auto deployed = json_of(shop.file("run.json"));
  CHECK(deployed["samples"] == kTestImages);
  CHECK(deployed["accuracy"] >= 95.0);
  CHECK(deployed["device"].get<std::string>().starts_with("cpu"));
  CHECK(json_of(shop.file("bench.json")).size() == 2);
  CHECK(deployed["against"]["accuracy"] >= 95.0);
  CHECK(deployed["against"]["agreement"] >= 90.0);
  const std::string page = read_text_file(shop.file("report.html"));
  CHECK(page.find("</html>") != std::string::npos);
  CHECK(page.find("Not there yet") == std::string::npos);
}

std::int64_t lines_of(const std::string& path) {
  if (!std::ifstream(path).good()) return 0;
  const std::string text = read_text_file(path, 1 << 26);
  return std::count(text.begin(), text.end(), '\n');
}

// A run of 24 iterations that is stopped when it shows `line`, proves to have been stopped, and is
// resumed; compared with one that is left alone.
void check_stop(const std::string& line, int signal, int status) {
  constexpr std::int64_t kLines = 1 + 2 + 24;
  const Workshop shop;
  const std::string whole = shop.data() + "/whole", parts = shop.data() + "/parts";
  const std::string keys = "prune.iter_nr=24 --output ";
  require_success(shop.prune(keys + whole + " --quiet"));
  REQUIRE(lines_of(whole + "/metrics.jsonl") == kLines);

  const Stopped stopped = stop_at(shop.prune_command(keys + parts), line, signal);
  INFO(stopped.output);
  REQUIRE(stopped.is_hit);
  REQUIRE(stopped.status == status);
  REQUIRE(!std::ifstream(parts + "/prune.json").good());
  REQUIRE(std::ifstream(parts + "/checkpoint.safetensors").good());
  REQUIRE(lines_of(parts + "/metrics.jsonl") < kLines);

  require_success(shop.prune(keys + parts + " --resume --quiet"));
  check_equal_runs(whole, parts);
}

TEST_CASE("a run that is stopped in the evolution and resumed ends with the same bytes") {
  check_stop("prune: iteration 1/24", SIGINT, 130);
}

TEST_CASE("a run that is stopped in the dense baseline and resumed ends with the same bytes") {
  check_stop("dense: epoch 0/2", SIGTERM, 130);
}

TEST_CASE("kill -9 leaves a checkpoint that can be resumed, to the same bytes") {
  check_stop("prune: iteration 1/24", SIGKILL, 128 + SIGKILL);
}

TEST_CASE("a folder that a run writes is refused to other programs, which say who has it") {
  const Workshop shop;
  require_success(shop.prune("--quiet --json " + shop.file("summary.json")));
  CHECK(json_of(shop.file("summary.json")) == json_of(shop.file("prune.json")));
  const FolderLock lock(shop.run(), "prune");
  const std::string holder = "in use by prune, process " + std::to_string(getpid());
  for (const char* how : {"--resume", "--overwrite"}) check_refusal(shop.prune(how), 2, {holder});
  check_refusal(
      shell(program("quantize") + " --in " + shop.file("pruned.safetensors") + " --device cpu"), 2,
      {holder});
  require_success(shell(program("runtime") + " report " + shop.run()));  // only reads results
}

TEST_CASE("a network that was imported is measured, pruned, and pruned further") {
  const Workshop shop;
  require_success(shop.prune("--quiet train.epochs=4"));
  const std::string folder = shop.data(), net = folder + "/net.safetensors";
  require_success(shell(program("import") + " --weights " + shop.file("dense.safetensors") +
                        " --architecture lenet5 -o " + net));
  const std::string more = " train.epochs=0 prune.start=weights --quiet ";
  const std::string first = folder + "/first", second = folder + "/second";
  require_success(shop.prune(more + "model.weights=" + net + " --output " + first +
                             " prune.target_sparsity=0.7"));
  require_success(shop.prune(more + "model.weights=" + first + "/pruned.safetensors --output " +
                             second + " prune.masks=file prune.target_sparsity=0.8"));
  const auto before = json_of(first + "/prune.json"), after = json_of(second + "/prune.json");
  CHECK(after["dense_accuracy"] == before["accuracy"]);
  CHECK(after["target_met"] == true);
  CHECK(after["sparsity"] > before["sparsity"]);

  const std::string scan = "model.weights=" + net + " --sensitivity --quiet --sparsities 0.5,0.9";
  const std::string page = folder + "/scan.html", json = folder + "/scan.json";
  require_success(shop.prune(scan + " --plot " + page + " --json " + json));
  CHECK(json_of(json)["layers"].size() == 5);
  CHECK(json_of(json)["layers"][0]["accuracies"].size() == 2);
  CHECK(read_text_file(page).find("</svg>") != std::string::npos);
  check_refusal(shop.prune("--sensitivity"), 2, {"'model.weights' names no file"});
  check_refusal(shop.prune("--plot x"), 2, {"--sensitivity"});
}

// Sorted by class, and only the last three quarters of the labels are right: the first images say
// something else than evenly spread ones.
TEST_CASE("limits take the same images in quantize and in the runtime") {
  const Workshop shop;
  require_success(shop.prune("--quiet train.epochs=4"));
  const std::string labels = shop.data() + "/t10k-labels-idx1-ubyte";
  std::string bytes = read_text_file(labels);
  for (std::size_t i = 0; i < kTestImages / 4; ++i)
    bytes[8 + i] = static_cast<char>((bytes[8 + i] + 1) % 4);
  std::ofstream(labels, std::ios::binary) << bytes;
  const std::string model = shop.file("tiny.wnw");
  require_success(shell(program("quantize") + " --in " + shop.file("pruned.safetensors") +
                        " --scheme 32b/32b --limit 16 --device cpu"));
  require_success(
      shell(program("export") + " --in " + shop.file("quantized.safetensors") + " -o " + model));
  require_success(shell(program("runtime") + " run " + model +
                        " --device cpu --limit 16 --data idx:" + shop.data() + " --json " +
                        shop.file("run.json")));
  const auto quantized = json_of(shop.file("quantize.json"));
  const auto deployed = json_of(shop.file("run.json"));
  CHECK(quantized["samples"] == 16);
  CHECK(deployed["samples"] == 16);
  CHECK(deployed["accuracy"] == quantized["accuracy_after"]);
  CHECK(deployed["accuracy"] >= 50.0);
  CHECK(deployed["accuracy"] <= 75.0);
}

TEST_CASE("memory that cannot be had is one line with the amount") {
  const Workshop shop;
  // 2^20 x 2^20 weights of 4 bytes and little more.
  const std::string graph =
      "'model={graph: {name: big, nodes: [{name: image, op: input, shape: [1, 28, 28]}, "
      "{name: flat, op: flatten}, {name: wide, op: linear, out_features: 1048576}, "
      "{name: wider, op: linear, out_features: 1048576}, "
      "{name: out, op: linear, out_features: 4}]}}'";
  const Outcome outcome = shop.prune("--quiet " + graph);
  check_refusal(outcome, 4, {"prune: big: out of memory: 4.0 TiB of weights, this machine has "});
  CHECK(std::count(outcome.output.begin(), outcome.output.end(), '\n') == 1);
  CHECK(outcome.output.find("internal error") == std::string::npos);
}

TEST_CASE("mistakes in a configuration are named with their place") {
  const Workshop shop("pruen: {}\n");
  check_refusal(shop.prune(), 2, {"tiny.yaml:11:1:", "pruen", "did you mean 'prune'"});
  CHECK(!std::ifstream(shop.file("config.yaml")).good());
}

TEST_CASE("values out of range, missing data and missing devices are refused") {
  const Workshop shop;
  check_refusal(shop.prune("prune.target_sparsity=1.5"), 2, {"target_sparsity", "1.5"});
  check_refusal(shop.prune("train.epochs=many"), 2, {"epochs", "many"});
  check_refusal(shop.prune("data.path=/nowhere"), 2, {"/nowhere"});
  check_refusal(shell(program("prune") + " --config none.yaml"), 3, {"none.yaml"});
  check_refusal(shell(program("prune") + " --confg x"), 2, {"--confg", "--config"});
  check_refusal(shop.prune("--json /nowhere/x.json"), 2, {"/nowhere/x.json: cannot be written"});
  check_refusal(shop.prune("--dry-run 'prune.exclude=[conv9]'"), 2, {"no prunable layer 'conv9'"});
  check_refusal(shop.prune("--dry-run --device cuda:97"), 4, {"device: "});
  if (shell("ls /dev/nvidiactl").status != 0)
    check_refusal(shop.prune("--device cuda"), 4, {"cuda"});
  CHECK(!std::ifstream(shop.file("config.yaml")).good());
}

TEST_CASE("damaged inputs are refused by every program, and nothing is half-written") {
  const TemporaryDirectory directory;
  const std::string bad = directory / "bad.safetensors";
  std::ofstream(bad) << "not a checkpoint";
  check_refusal(shell(program("quantize") + " --in " + bad + " -o " + (directory / "q")), 3,
                {"bad.safetensors"});
  check_refusal(shell(program("export") + " --in " + bad + " -o " + (directory / "m.wnw")), 3,
                {"bad.safetensors"});
  for (const char* command : {"run", "verify", "bench", "inspect"}) {
    const std::string tail = std::string(command) == "run" ? " x.png" : "";
    check_refusal(shell(program("runtime") + " " + command + " " + bad + tail), 3,
                  {"bad.safetensors"});
  }
  CHECK(!std::ifstream(directory / "q").good());
  CHECK(!std::ifstream(directory / "m.wnw").good());
}

}  // namespace
}  // namespace winnow
