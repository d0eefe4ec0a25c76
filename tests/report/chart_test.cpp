#include "runtime/report/chart.h"

#include <doctest/doctest.h>

namespace winnow {
namespace {

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST_CASE("round_ticks covers a range with a few round numbers") {
  CHECK(round_ticks(0, 1) == std::vector<double>{0, 0.2, 0.4, 0.6000000000000001, 0.8, 1});
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

TEST_CASE("a chart of nothing is nothing") {
  CHECK(line_chart({}, {{"a", {}}}).empty());
  CHECK(bar_chart({}, {}).empty());
}

TEST_CASE("a bar chart draws a bar for every positive value, on either scale") {
  Bars bars{{"conv1", "conv2"}, {"dense", "sparse"}, {{10, 1000}, {0, 3}}, false};
  CHECK(count_of(bar_chart({"bytes", "layer", "B"}, bars), "fill='#1f6feb'><title>") == 2);
  bars.is_logarithmic = true;
  const std::string svg = bar_chart({"bytes", "layer", "B"}, bars);
  CHECK(count_of(svg, "fill='#d1242f'><title>") == 1);
  CHECK(svg.find("nan") == std::string::npos);
  CHECK(svg.find("inf") == std::string::npos);
}

TEST_CASE("names from files cannot break out of the page") {
  const std::string svg = line_chart({"<script>", "'x'", "&"}, {{"<b>", {{0, 1}, {1, 1}}}});
  CHECK(svg.find("<script>") == std::string::npos);
  CHECK(svg.find("<b>") == std::string::npos);
  CHECK(escape_html("<a href='x'>&\"") == "&lt;a href=&#39;x&#39;&gt;&amp;&quot;");
}

}  // namespace
}  // namespace winnow
