#include "runtime/report/chart.h"

#include <doctest/doctest.h>

#include <limits>

#include "tests/report/svg.h"

namespace winnow {
namespace {

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST_CASE("round_ticks covers a range with a few round numbers") {
  CHECK(round_ticks(0, 1) == std::vector<double>{0, 0.2, 0.4, 0.6000000000000001, 0.8, 1});
  CHECK(round_ticks(0.15, 0.3).size() == 4);  // every 0.05, none beyond
  CHECK(round_ticks(-0.3, -0.15).size() == 4);
  const std::vector<double> ticks = round_ticks(87.3, 92.9);
  CHECK(ticks.front() <= 87.3);
  CHECK(ticks.back() >= 92.9);
  CHECK(ticks.size() <= 8);
}

TEST_CASE("a line chart draws one line per series that has points") {
  const std::string svg = line_chart({"accuracy", "iteration", "%"},
                                     {{"a", {{0, 1}, {1, 2}}}, {"b", {}}, {"c", {{0, 3}}}});
  CHECK(count_of(svg, "<polyline") == 2);
  CHECK(count_of(svg, "</svg>") == 1);
  CHECK(svg.find("nan") == std::string::npos);
}

TEST_CASE("every point of every series lies where the labels of the axes say") {
  const std::vector<Series> series = {{"a", {{1, 0.5}, {2, 0.25}, {4, 0.125}, {10, 0}}},
                                      {"b", {{3, 0.9}}},
                                      {"c", {{1, 0}, {10, 0.7}}}};
  const std::vector<Points> lines = lines_in(line_chart({"loss", "epoch", ""}, series));
  REQUIRE(lines.size() == series.size());
  for (std::size_t s = 0; s < series.size(); ++s) {
    REQUIRE(lines[s].size() == series[s].points.size());
    for (std::size_t i = 0; i < lines[s].size(); ++i) {
      CHECK(lines[s][i].first == doctest::Approx(series[s].points[i].first).epsilon(0.002));
      CHECK(lines[s][i].second ==
            doctest::Approx(series[s].points[i].second).epsilon(0.001).scale(1));
    }
  }
}

TEST_CASE("every bar is as high as its value, and named with it") {
  const Bars bars{{"conv1", "conv2"}, {"dense", "sparse"}, {{10, 40}, {5, 2.5}}, false};
  const std::vector<std::pair<std::string, double>> expected = {{"conv1: dense 10", 10},
                                                                {"conv1: sparse 5", 5},
                                                                {"conv2: dense 40", 40},
                                                                {"conv2: sparse 2.5", 2.5}};
  const auto drawn = bars_in(bar_chart({"time", "", "ms"}, bars));
  REQUIRE(drawn.size() == expected.size());
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    CHECK(drawn[i].first == expected[i].first);
    CHECK(drawn[i].second == doctest::Approx(expected[i].second).epsilon(0.01));
  }
}

TEST_CASE("a chart of nothing is nothing") {
  CHECK(line_chart({}, {{"a", {}}}).empty());
  CHECK(bar_chart({}, {}).empty());
}

TEST_CASE("a bar chart draws a bar for every value but 0, on either scale") {
  Bars bars{{"conv1", "conv2"}, {"dense", "sparse"}, {{10, 1000}, {0, 3}}, false};
  CHECK(count_of(bar_chart({"bytes", "layer", "B"}, bars), "class='series0'><title>") == 2);
  bars.is_logarithmic = true;
  const std::string svg = bar_chart({"bytes", "layer", "B"}, bars);
  CHECK(count_of(svg, "class='series1'><title>") == 1);
  CHECK(svg.find("nan") == std::string::npos);
  CHECK(svg.find("inf") == std::string::npos);
}

TEST_CASE("bars of negative values hang from the line of 0") {
  const std::string svg = bar_chart({}, {{"a", "b"}, {"x"}, {{2, -1}}, false});
  const auto number = [&](const std::string& name, std::size_t from) {
    const std::size_t at = svg.find(" " + name + "='", from) + name.size() + 3;
    return std::stod(svg.substr(at));
  };
  const std::size_t a = svg.rfind("<rect", svg.find("a: x 2"));
  const std::size_t b = svg.rfind("<rect", svg.find("b: x -1"));
  REQUIRE(b != std::string::npos);
  CHECK(number("y", a) + number("height", a) == doctest::Approx(number("y", b)).epsilon(0.001));
  CHECK(number("height", a) == doctest::Approx(2 * number("height", b)).epsilon(0.005));
}

TEST_CASE("values that no axis can show are left out") {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const Bars bars{{"a", "b"}, {"x", "y"}, {{1.5e308, 600}, {7, kInfinity}}, true};
  const auto drawn = bars_in(bar_chart({}, bars));
  REQUIRE(drawn.size() == 2);
  CHECK(drawn[0].first == "a: y 7");
  CHECK(drawn[1].first == "b: x 600");
  const std::vector<Points> lines =
      lines_in(line_chart({}, {{"a", {{1, 1e20}, {2, 3}, {4, 5}, {kInfinity, 1}}}}));
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].size() == 2);
  CHECK(line_chart({}, {{"a", {{0, 1e20}, {1, 1e20}}}}).empty());
}

TEST_CASE("an axis has few ticks, however far it reaches and wherever it begins") {
  const double cases[] = {0, 1e-300, 5e-324, 1, 1e14, 1e15, -1e15};
  for (const double low : cases) {
    CAPTURE(low);
    const std::string constant = line_chart({}, {{"a", {{0, low}, {1, low}}}});
    CHECK(constant.find("nan") == std::string::npos);
    CHECK(count_of(constant, "<text") < 24);
    const Bars bars{{"a", "b"}, {"x"}, {{low, 1e15}}, true};
    const std::string svg = bar_chart({}, bars);
    CHECK(count_of(svg, "<line") <= 9);
    CHECK(svg.find("nan") == std::string::npos);
    CHECK(svg.find("inf") == std::string::npos);
    CHECK(round_ticks(low, 1e15).size() <= 7);
    CHECK(!round_ticks(low, low).empty());
  }
}

TEST_CASE("names from files cannot break out of the page") {
  const std::string svg = line_chart({"<script>", "'x'", "&"}, {{"<b>", {{0, 1}, {1, 1}}}});
  CHECK(svg.find("<script>") == std::string::npos);
  CHECK(svg.find("<b>") == std::string::npos);
}

}  // namespace
}  // namespace winnow
