// Graphs in YAML.
#include <doctest/doctest.h>

#include <fstream>

#include "prune/config/run_config.h"
#include "tests/config/config_text.h"
#include "tests/temporary_directory.h"
#include "tests/throws.h"

namespace winnow {
namespace {

constexpr char kGraph[] =
    "name: tiny\n"
    "nodes:\n"
    "  - {name: image, op: input, shape: [3, 8, 8]}\n"
    "  - {name: conv, op: conv2d, out_channels: 3, kernel: 3, padding: 1}\n"
    "  - {name: sum, op: add, inputs: [conv, image]}\n"
    "  - {name: pool, op: global_avg_pool}\n"
    "  - {name: linear, op: linear, out_features: 10}\n";

std::string indented(const std::string& text) {
  std::string result = "    ";
  for (const char c : text) {
    result += c;
    if (c == '\n') result += "    ";
  }
  return result;
}

std::string config_with(const std::string& graph) {
  return "data: {format: cifar10}\nmodel:\n  graph:\n" + indented(graph) + "\n";
}

std::string refusal(const std::string& graph) {
  const auto read = [&] { parse_config(config_with(graph)); };
  CHECK(error_of(read) == ErrorCode::usage);
  return message_of(read);
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

TEST_CASE("a graph is read with inputs and sizes filled in") {
  const RunConfig config = parse_config(config_with(kGraph));
  REQUIRE(config.model.graph.has_value());
  const Graph& graph = *config.model.graph;
  CHECK(graph.name == "tiny");
  REQUIRE(graph.nodes.size() == 5);
  CHECK(graph.nodes[1].inputs == std::vector<std::string>{"image"});
  CHECK(std::get<Conv>(graph.nodes[1].op).in_channels == 3);
  CHECK(std::get<Conv>(graph.nodes[1].op).kernel == Pair{3, 3});
  CHECK(graph.nodes[2].inputs == std::vector<std::string>{"conv", "image"});
  CHECK(std::get<Linear>(graph.nodes[4].op).in_features == 3);
}

TEST_CASE("a graph is written with the configuration and reads back equal") {
  const RunConfig config = parse_config(config_with(kGraph));
  const RunConfig again = parse_config(write_run_config(config));
  CHECK((again.model.graph == config.model.graph));
}

TEST_CASE("a graph may lie in a file beside the configuration") {
  const TemporaryDirectory folder;
  std::ofstream(folder / "tiny.yaml") << kGraph;
  std::ofstream(folder / "run.yaml") << "data: {format: cifar10}\nmodel: {graph: tiny.yaml}\n";
  CHECK(read_run_config(folder / "run.yaml").model.graph->nodes.size() == 5);
  const std::vector<std::string> argument = {"model.graph=tiny.yaml"};  // not in this folder
  CHECK(error_of([&] { read_run_config(folder / "run.yaml", argument); }) == ErrorCode::bad_file);
  const std::vector<std::string> whole = {"model.graph=" + (folder / "tiny.yaml")};
  CHECK(read_run_config(folder / "run.yaml", whole).model.graph->nodes.size() == 5);
  std::ofstream(folder / "lost.yaml") << "data: {format: cifar10}\nmodel: {graph: none.yaml}\n";
  CHECK(error_of([&] { read_run_config(folder / "lost.yaml"); }) == ErrorCode::bad_file);
}

TEST_CASE("mistakes in a graph are named with line and column") {
  CHECK(
      refusal(replaced(kGraph, "out_channels", "out_chanels")).find("a.yaml:7:34: node 'conv': ") ==
      0);
  CHECK(refusal(replaced(kGraph, "kernel: 3", "kernel: three")).find("found 'three'") !=
        std::string::npos);
  CHECK(refusal(replaced(kGraph, "op: add", "op: ad")).find("a.yaml:8:") == 0);
  CHECK(refusal(replaced(kGraph, "nodes", "node")).find("did you mean 'nodes'?") !=
        std::string::npos);
  CHECK(refusal(replaced(kGraph, "inputs: [conv, image]", "inputs: [conv, imag]")).find("imag") !=
        std::string::npos);
  CHECK(refusal(replaced(kGraph, "{name: pool, op", "{op")).find("'name' is missing") !=
        std::string::npos);
}

}  // namespace
}  // namespace winnow
