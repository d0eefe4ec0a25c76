// The four programs as a user runs them, on 512 small images.
#include <doctest/doctest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "runtime/base/file.h"
#include "tests/pipeline/shell.h"
#include "tests/pipeline/synthetic_idx.h"
#include "tests/temporary_directory.h"

namespace winnow {
namespace {

constexpr int kTrainImages = 640;  // 512 to train on, 128 to validate
constexpr int kTestImages = 256;

// A folder with a data set and a configuration that trains in seconds.
class Workshop {
 public:
  explicit Workshop(const std::string& extra_keys = "") {
    write_synthetic_idx(directory_.path(), "train", kTrainImages, 1);
    write_synthetic_idx(directory_.path(), "t10k", kTestImages, 2);
    std::ofstream(config()) << "name: tiny\nseed: 3\ndevice: cpu\nthreads: 2\n"
                            << "output: " << run() << "\n"
                            << "data: {format: idx, path: " << directory_.path()
                            << ", validation: 128}\n"
                            << "model: {architecture: lenet5}\n"
                            << "train: {epochs: 2, batch_size: 32, learning_rate: 0.02}\n"
                            << "prune: {start: dense, iter_nr: 8, batch_nr: 8, pool_size: 3, "
                            << "target_sparsity: 0.8, acc_threshold: -0.1, learning_rate: 0.01}\n"
                            << "checkpoint: {seconds: 0.2}\n"
                            << extra_keys;
  }

  std::string config() const { return directory_ / "tiny.yaml"; }
  std::string run() const { return directory_ / "run"; }
  std::string file(const std::string& name) const { return run() + "/" + name; }
  std::string data() const { return directory_.path(); }

  Outcome prune(const std::string& more = "") const {
    return shell(program("prune") + " --config " + config() + " " + more);
  }

 private:
  TemporaryDirectory directory_;
};

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
  const std::string model = shop.file("tiny.wnw");
  require_success(
      shell(program("export") + " --in " + shop.file("quantized.safetensors") + " -o " + model));
  require_success(shell(program("runtime") + " run " + model + " --device cpu --data idx:" +
                        shop.data() + " --json " + shop.file("run.json")));
  require_success(shell(program("runtime") + " verify " + model + " --device cpu"));
  require_success(shell(program("runtime") + " inspect " + model));
  require_success(shell(program("runtime") + " bench " + model +
                        " --device cpu --batch 1,8 --repeats 4 --layer-repeats 2 --warm-up 1" +
                        " --json " + shop.file("bench.json")));
  require_success(shell(program("runtime") + " report " + shop.run()));

  const auto deployed = json_of(shop.file("run.json"));
  CHECK(deployed["samples"] == kTestImages);
  CHECK(deployed["accuracy"] >= 95.0);
  CHECK(deployed["device"].get<std::string>().starts_with("cpu"));
  CHECK(json_of(shop.file("bench.json")).size() == 2);
  CHECK(read_text_file(shop.file("report.html")).find("</html>") != std::string::npos);
}

TEST_CASE("a run that is stopped and resumed ends with the same bytes") {
  const Workshop shop, other;
  require_success(shop.prune());
  const Outcome stopped = shell("timeout --preserve-status --signal=INT 3 " + program("prune") +
                                " --config " + other.config() + " prune.iter_nr=8");
  INFO(stopped.output);
  if (stopped.status == 130) {
    CHECK(stopped.output.find("checkpoint") != std::string::npos);
    require_success(other.prune("--resume"));
  } else {
    REQUIRE(stopped.status == 0);  // it was done before the signal came
  }
  const auto weights = [](const Workshop& w) {
    const std::string bytes = read_text_file(w.file("pruned.safetensors"), 1 << 26);
    return bytes.substr(bytes.size() - 40000);  // the tensors, without times in the metadata
  };
  CHECK(weights(shop) == weights(other));
}

TEST_CASE("kill -9 leaves a checkpoint that can be resumed") {
  const Workshop shop;
  const std::string longer = "prune.iter_nr=120";  // seconds of work, so that the signal hits it
  const Outcome killed = shell("timeout --signal=KILL 2 " + program("prune") + " --config " +
                               shop.config() + " " + longer);
  REQUIRE(killed.status == 137);
  require_success(shop.prune("--resume " + longer));
  CHECK(read_text_file(shop.file("pruned.safetensors"), 1 << 26).size() > 1000);
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
  if (shell("ls /dev/nvidia0").status != 0) check_refusal(shop.prune("--device cuda"), 4, {"cuda"});
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
