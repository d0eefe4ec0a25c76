// docs/reference.md lists every command, option and JSON field as the programs have them.
// `WINNOW_WRITE_REFERENCE=1 reference_page_tests` writes the page anew; programs that this build
// lacks keep their part of it.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "prune/data/data_set.h"
#include "runtime/base/file.h"
#include "runtime/challenge/files/binary/images_file.h"
#include "runtime/challenge/files/binary/network_file.h"
#include "runtime/challenge/files/text/tsv.h"
#include "runtime/model/architectures.h"
#include "runtime/model/safetensors.h"
#include "tests/challenge/random_network.h"
#include "tests/commands/desk.h"
#include "tests/commands/json_fields.h"
#include "tests/export/random_model.h"
#include "tests/model/graphs.h"
#include "tests/pipeline/workshop.h"

namespace winnow {
namespace {

using Json = nlohmann::ordered_json;

const std::string kPage = std::string(WINNOW_SOURCE_DIR) + "/docs/reference.md";
const char* const kBegin =
    "# Reference\n\n"
    "Every command with its options, and the fields of the JSON that it writes. Generated from "
    "the\n"
    "programs themselves: `WINNOW_WRITE_REFERENCE=1 build/bin/reference_page_tests` writes this "
    "page.\n"
    "[commands.md](commands.md) explains them.\n";

Json json_of(const std::string& command) {
  const Outcome outcome = shell(command + " 2>/dev/null");
  INFO(command);
  REQUIRE(outcome.status == 0);
  return Json::parse(outcome.output);
}

// ---- what each command writes, on data that gives every field

Json run_json() {
  DeployedModel model;
  model.graph = graph_of({1, 28, 28}, {{"flat", Flatten{}, {}}, {"fc", Linear{784, 4, false}, {}}});
  model.weights["fc.weight"] = DenseWeight{{4, 784}, encode_f32(std::vector<float>(3136, 0.5f))};
  const Desk desk(model);
  const std::string data = std::filesystem::path(desk.model()).parent_path();
  write_synthetic_idx(data, "t10k", 8, 1);
  return json_of(program("runtime") + " run " + desk.model() +
                 " --device cpu --json - --data idx:" + data + " --against " + desk.model());
}

Json challenge_json() {
  using namespace challenge;
  constexpr std::uint32_t kNeurons = 50;
  const TemporaryDirectory directory;
  const MemoryNetwork network =
      random_network({.widths = {kNeurons, 60, kNeurons}, .seed = 8, .highest_bias = 0});
  const SparseImages images = challenge::random_images(kNeurons, 70, 3);
  NetworkFileWriter writer(directory / "neuron50.wsn", kNeurons, 2);
  for (std::uint32_t l = 0; l < 2; ++l) writer.append(network.layer(l));
  writer.commit();
  write_images_file(directory / "sparse-images-50.wsi", images);
  Categories truth = expected_result(network, images).categories;
  REQUIRE(truth.size() > 2);
  std::uint32_t dead = 0;
  while (std::ranges::find(truth, dead) != truth.end()) ++dead;
  truth.front() = dead;  // one is missing and one surplus: the lists of differences have entries
  std::ranges::sort(truth);
  write_categories_tsv(directory / "neuron50-l2-categories.tsv", truth);
  const Outcome outcome = shell(program("runtime") + " challenge run " + directory.path() +
                                " --baseline reference --quiet --json - 2>/dev/null");
  INFO(outcome.output);
  REQUIRE(outcome.status == 5);
  return Json::parse(outcome.output);
}

Json export_json() {
  const TemporaryDirectory directory;
  Random random(3);
  Model model = random_model(graph_of({4}, {{"fc1", Linear{4, 8, true}, {}},
                                            {"relu", Relu{}, {}},
                                            {"fc2", Linear{8, 2, true}, {}}}),
                             random);
  kill_channels(model, "fc1", 2, 1, 0);
  save_model(directory / "m.safetensors", model);
  return json_of(program("export") + " --in " + (directory / "m.safetensors") + " -o " +
                 (directory / "m.wnw") + " --onnx " + (directory / "m.onnx") + " --safetensors " +
                 (directory / "t.safetensors") + " --json -");
}

// Weights under our own names and one tensor that nothing takes.
Json import_json() {
  const TemporaryDirectory directory;
  SafetensorsFile weights;
  for (const Node& node : build_architecture("lenet5", {{1, 28, 28}, 10}).nodes) {
    for (const Parameter& parameter : parameters_of(node)) {
      weights.tensors.emplace(parameter.name, Tensor(DataType::f32, parameter.shape));
    }
  }
  weights.tensors.emplace("more", Tensor(DataType::f32, {1}));
  write_safetensors(directory / "w.safetensors", weights);
  const Outcome outcome =
      shell(program("import") + " --architecture lenet5 --partial --weights " +
            (directory / "w.safetensors") + " -o " + (directory / "m.safetensors") + " --json " +
            (directory / "m.json"));
  INFO(outcome.output);
  REQUIRE(outcome.status == 0);
  return Json::parse(read_text_file(directory / "m.json"));
}

Json quantize_json() {
  const TemporaryDirectory data;
  write_synthetic_idx(data.path(), "train", 96, 1);
  write_synthetic_idx(data.path(), "t10k", 50, 2);
  Random random(5);
  Model model = random_model(build_architecture("lenet5", {{1, 28, 28}, 10}), random);
  model.metadata[kDataFormatKey] = "idx";
  model.metadata[kDataPathKey] = data.path();
  save_model(data / "m.safetensors", model);
  return json_of(program("quantize") + " --in " + (data / "m.safetensors") +
                 " --scheme 4b/16b --calibration 32 --device cpu --quiet --json -");
}

// A run of prune: made once, since it trains.
class Pipeline {
 public:
  Pipeline() {
    const Outcome outcome = shop_.prune("--quiet");
    INFO(outcome.output);
    REQUIRE(outcome.status == 0);
  }
  Json summary() const { return Json::parse(read_text_file(shop_.file("prune.json"))); }
  std::vector<Json> metrics() const {
    std::vector<Json> lines;
    std::istringstream text(read_text_file(shop_.file("metrics.jsonl")));
    for (std::string line; std::getline(text, line);) lines.push_back(Json::parse(line));
    return lines;
  }

 private:
  Workshop shop_;
};

const Pipeline& pipeline() {
  static const Pipeline pipeline;
  return pipeline;
}

bool has_program(const std::string& name) {
  return std::filesystem::exists(program(name));
}

Json command_json(const std::string& command) {
  if (command == "prune") return pipeline().summary();
  if (command == "quantize") return quantize_json();
  if (command == "runtime run") return run_json();
  if (command == "runtime challenge run") return challenge_json();
  if (command == "export") return export_json();
  if (command == "import") return import_json();
  const Desk desk;
  const std::string quick = " --device cpu --repeats 4 --layer-repeats 1 --warm-up 0 --batch 2";
  if (command == "runtime bench")
    return json_of(program("runtime") + " bench " + desk.model() + quick + " --json -");
  if (command == "runtime verify")
    return json_of(program("runtime") + " verify " + desk.model() + " --device cpu --json -");
  if (command == "runtime tune")
    return json_of(program("runtime") + " tune " + desk.model() +
                   " --device cpu --batch 2 --cache " + desk.file("cache") + " --json -");
  if (command == "runtime inspect")
    return json_of(program("runtime") + " inspect " + desk.model() + " --json -");
  if (command == "runtime doctor") return json_of(program("runtime") + " doctor --json -");
  return {};
}

// What `runtime tune --table` writes.
Json table_json() {
  const Desk desk;
  const Outcome outcome = shell(program("runtime") + " tune " + desk.model() +
                                " --device cpu --batch 2 --densities 0.5 --vectors 8,16 --table " +
                                desk.file("table.json"));
  INFO(outcome.output);
  REQUIRE(outcome.status == 0);
  return Json::parse(read_text_file(desk.file("table.json")));
}

// ---- the page

// "prune", "runtime", "runtime run", ...: every command, in the order of the programs' help.
void add_commands(const std::string& name, const std::string& call,
                  std::vector<std::pair<std::string, std::string>>& commands) {
  const std::string help = shell(call + " --help").output;
  commands.emplace_back(name, help);
  const std::size_t list = help.find("\nSubcommands:\n");
  if (list == std::string::npos) return;
  std::istringstream lines(help.substr(list + 14));
  for (std::string line; std::getline(lines, line) && line.starts_with("  ");) {
    if (line[2] == ' ') continue;  // the description of the one before
    const std::string word = line.substr(2, line.find(' ', 2) - 2);
    add_commands(name + " " + word, call + " " + word, commands);
  }
}

// Fields that these runs leave out: of a GPU, of a target that was missed, of one in numbers, of a
// budget of time, of kernels that were rejected, of a CPU that has several dense kernels.
Json other_fields(const std::string& command) {
  const Json rejected = {{"family", "dense"}, {"kernel", "x"}, {"reason", "why"}};
  if (command == "prune") {
    return {{"shortfall", "why"},
            {"target_kept", 1000},
            {"time",
             {{"table", "times.json"},
              {"device", "cpu"},
              {"precision", "f32"},
              {"batch", 1},
              {"dense_ms", 2.5},
              {"target_ms", 1.5},
              {"predicted_ms", 1.5},
              {"predicted_speedup", 1.5},
              {"constant_ms", 0.5},
              {"scale", 1.5}}}};
  }
  if (command == "runtime run") {  // of pictures
    const Json top = {{"class", "cat"}, {"index", 3}, {"probability", 0.5}};
    return {{"images", Json::array({{{"file", "a.png"}, {"top", Json::array({top})}}})}};
  }
  if (command == "runtime bench") {
    const Json candidates = Json::array({{{"rejected", "why"}}});
    const Json timed = Json::array({{{"family", "dense"}, {"kernel", "x"}, {"ms", 1.5}}});
    const Json dense = Json::array({{{"kernels_timed", 2}, {"candidates", timed}}});
    return Json::array({{{"chosen", {{"layers", Json::array({{{"candidates", candidates}}})}}},
                         {"dense", {{"layers", dense}}}}});
  }
  if (command == "runtime tune") {
    const Json layers = Json::array({{{"rejected", Json::array({rejected})}}});
    return {{"batches", Json::array({{{"layers", layers}}})}};
  }
  if (command != "runtime challenge run") return Json::object();
  const Json ms = {{"min", 1.5}, {"mean", 1.5}, {"median", 1.5}, {"max", 1.5}};
  const Json rank = {{"rank", 1},
                     {"machine", "node7"},
                     {"device", "cuda:1 (NVIDIA H200)"},
                     {"peak_gpu_bytes", 1 << 20},
                     {"inference_ms", ms}};
  const Json runs = Json::array({{{"rank_ms", Json::array({1.5})}}});
  return {{"highest_clocks_mhz", {{"sm", 1980}, {"memory", 3201}}},
          {"runs", runs},
          {"baseline", {{"runs", runs}}},
          {"ranks", Json::array({rank})}};
}

// What `runtime tune --calibrate` adds to a table.
Json calibrated_fields() {
  const Json run = {{"run", "runs/a"}, {"predicted_ms", 1.5}, {"measured_ms", 1.5}};
  const Json network = {{"granularities", Json::array({{{"calibrated", run}}})}};
  return {{"batches", Json::array({{{"network", network}}})}};
}

std::string section(const std::string& name, const std::string& help) {
  std::string text =
      "\n## " + name + "\n\n```\n" + help.substr(0, help.find_last_not_of("\n ") + 1) + "\n```\n";
  const Json json = command_json(name);
  if (!json.is_null()) text += "\nJSON:\n\n" + field_table({json, other_fields(name)});
  if (name == "runtime tune") {
    text += "\nThe file of `--table`:\n\n" + field_table({table_json(), calibrated_fields()});
  }
  if (name == "prune") text += "\nA line of metrics.jsonl:\n\n" + field_table(pipeline().metrics());
  return text;
}

// What the page has of a program that this build lacks.
std::string kept_part(const std::string& page, const std::string& name) {
  const std::size_t begin = page.find("\n## " + name + "\n");
  if (begin == std::string::npos) return "";
  const std::size_t end = page.find("\n## ", begin + 1);
  return page.substr(begin, end == std::string::npos ? end : end - begin);
}

std::string new_page(const std::string& old_page) {
  std::string page = kBegin;
  for (const std::string name : {"import", "prune", "quantize", "export", "runtime"}) {
    if (!has_program(name)) {
      page += kept_part(old_page, name);
      continue;
    }
    std::vector<std::pair<std::string, std::string>> commands;
    add_commands(name, program(name), commands);
    for (const auto& [command, help] : commands) page += section(command, help);
  }
  return page;
}

}  // namespace

TEST_CASE("docs/reference.md is what the programs say of themselves") {
  const std::string old_page = std::filesystem::exists(kPage) ? read_text_file(kPage) : "";
  const std::string page = new_page(old_page);
  if (std::getenv("WINNOW_WRITE_REFERENCE") != nullptr) write_file_atomically(kPage, page);
  CHECK(page.find("## runtime challenge run\n") != std::string::npos);
  CHECK(page.find("| `layers[].relative_error` | number |") != std::string::npos);
  CHECK(page == read_text_file(kPage));
}

TEST_CASE("every option that takes a number says what it may be") {
  const std::string page = read_text_file(kPage);
  const std::regex unchecked("\\n  -[-, a-z]* (INT|UINT|FLOAT)[ =]");
  std::smatch found;
  const bool is_unchecked = std::regex_search(page, found, unchecked);
  CAPTURE(found.str());
  CHECK(!is_unchecked);
}

TEST_CASE("every JSON document names its command and its version") {
  for (const std::string command :
       {"runtime run", "runtime bench", "runtime verify", "runtime tune", "runtime inspect",
        "runtime doctor", "runtime challenge run", "import", "export", "prune", "quantize"}) {
    if (!has_program(command.substr(0, command.find(' ')))) continue;
    CAPTURE(command);
    const Json json = command_json(command);
    const Json& first = json.is_array() ? json.front() : json;
    CHECK(!first.value("version", "").empty());
    const std::string runtime = command.starts_with("runtime ") ? "runtime " : "";
    CHECK(runtime + first.value("command", "") == command);
  }
  CHECK(table_json().value("command", "") == "tune");
  CHECK(!table_json().value("version", "").empty());
}

}  // namespace winnow
