#include "runtime/report/network_lanes.h"

#include <doctest/doctest.h>

#include <cmath>

#include "runtime/report/network_drawing.h"
#include "tests/report/svg.h"

namespace winnow {
namespace {

NodeFacts node(const std::string& name, const std::string& op, std::vector<std::string> inputs) {
  return {name, op, std::move(inputs), "[8]", {}, {}};
}

// A block with a shortcut around two convolutions.
std::vector<NodeFacts> residual() {
  return {node("image", "input", {}),
          node("conv0", "conv2d", {"image"}),
          node("relu0", "relu", {"conv0"}),
          node("conv1", "conv2d", {"relu0"}),
          node("relu1", "relu", {"conv1"}),
          node("conv2", "conv2d", {"relu1"}),
          node("sum", "add", {"conv2", "relu0"}),
          node("relu2", "relu", {"sum"})};
}

}  // namespace

TEST_CASE("a shortcut keeps its lane while the branch beside it is drawn") {
  const NetworkLanes drawing = lanes_of(residual());
  REQUIRE(drawing.rows.size() == 5);  // relus stand with what they alone read
  CHECK(drawing.lanes == 2);
  using Indices = std::vector<std::size_t>;
  CHECK(drawing.rows[1].followers == Indices{2});
  CHECK(drawing.rows[2].followers == Indices{4});
  const std::size_t lanes[] = {0, 0, 1, 1, 0};
  for (std::size_t r = 0; r < 5; ++r) {
    CAPTURE(r);
    CHECK(drawing.rows[r].lane == lanes[r]);
  }
  CHECK(drawing.rows[4].inputs == Indices{3, 1});
}

TEST_CASE("an operation whose input others read too has a row of its own") {
  const NetworkLanes drawing =
      lanes_of({node("image", "input", {}), node("relu", "relu", {"image"}),
                node("sum", "add", {"image", "relu"})});
  CHECK(drawing.rows.size() == 3);
}

TEST_CASE("no line passes through a node that it does not end at") {
  std::vector<NodeFacts> nodes = {node("image", "input", {})};
  for (int i = 1; i < 40; ++i) {  // each reads the one before and one from far above
    const std::string before = nodes.back().name, far = nodes[static_cast<std::size_t>(i / 2)].name;
    nodes.push_back(node(std::to_string(i), "concat", {before, far}));
  }
  const NetworkLanes drawing = lanes_of(nodes);
  for (std::size_t to = 0; to < drawing.rows.size(); ++to) {
    for (const std::size_t from : drawing.rows[to].inputs) {
      for (std::size_t between = from + 1; between < to; ++between) {
        CHECK(drawing.rows[between].lane != drawing.rows[from].lane);
      }
    }
  }
}

TEST_CASE("the drawing has every node, a line for every input, and sparsity as number and colour") {
  RunFacts facts;
  facts.network = "<net>";
  facts.nodes = residual();
  facts.nodes[1].sparsity = 0;
  facts.nodes[3].sparsity = 1;
  facts.nodes[5].sparsity = 0.875;
  facts.nodes[5].dense_macs = 1.5e6;
  const std::string svg = network_drawing(facts);
  CHECK(matches(svg, std::regex("<circle ")).size() == 5);
  CHECK(matches(svg, std::regex("class='edge'")).size() == 5);
  CHECK(svg.find("<title>&lt;net&gt;: 8 nodes, 3 with weights</title>") != std::string::npos);
  CHECK(svg.find("rgb(222,235,247)") != std::string::npos);
  CHECK(svg.find("rgb(8,48,107)") != std::string::npos);
  CHECK(svg.find(">87.5 %<") != std::string::npos);
  CHECK(svg.find(">1.5 M<") != std::string::npos);
  CHECK(network_drawing({}).empty());
}

// Luminance by WCAG 2.
double luminance(double red, double green, double blue) {
  const auto linear = [](double c) {
    return c <= 10 ? c / 255 / 12.92 : std::pow((c / 255 + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
}

TEST_CASE("the number on every colour of sparsity stands out from it") {
  RunFacts facts;
  for (int i = 0; i <= 100; ++i) {
    facts.nodes = {node("conv", "conv2d", {})};
    facts.nodes[0].sparsity = i / 100.0;
    const std::string svg = network_drawing(facts);
    std::smatch m;
    REQUIRE(std::regex_search(
        svg, m, std::regex("rgb\\(([0-9]+),([0-9]+),([0-9]+)\\)[^<]*<text[^>]*on-(dark|light)")));
    CAPTURE(svg);
    const double behind = luminance(stod(m[1]), stod(m[2]), stod(m[3])) + 0.05;
    CHECK((m[4] == "dark" ? 1.05 / behind : behind / 0.05) >= 4.5);
  }
}

TEST_CASE("a long name is cut between letters") {
  RunFacts facts;
  std::string name = "x";
  for (int i = 0; i < 60; ++i) name += "\xc3\xa4";  // two bytes a letter
  facts.nodes = {node(name, "input", {})};
  const std::string svg = network_drawing(facts);
  CHECK(svg.find("\xc3\xa4...<") != std::string::npos);
  CHECK(svg.find("\xc3...") == std::string::npos);
}

}  // namespace winnow
