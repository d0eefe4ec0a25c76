#include "runtime/report/heat_map.h"

#include <doctest/doctest.h>

#include <limits>

#include "tests/report/svg.h"

namespace winnow {
namespace {

// (title, shade) of every cell of the table, without those of the legend.
std::vector<std::pair<std::string, double>> cells_in(const std::string& svg) {
  static const std::regex cell(
      "<rect class='cell' style='--shade:([0-9.]+)'[^>]*><title>([^<]*)</title></rect>");
  std::vector<std::pair<std::string, double>> cells;
  for (const std::smatch& m : matches(svg, cell)) {
    if (m[2].str().find(':') != std::string::npos) cells.emplace_back(m[2], stod(m[1]));
  }
  return cells;
}

TEST_CASE("cells are shaded by their values, and say them") {
  const double none = std::numeric_limits<double>::quiet_NaN();
  const HeatMap map{.rows = {"conv1", "a<b"},
                    .columns = {"1", "2"},
                    .values = {{10, none}, {35, 70}},
                    .low = 10,
                    .high = 60,
                    .notes = {"first", "second"}};
  const std::string svg = heat_map({"Title", "iteration", "sparsity, %"}, map);
  CHECK(cells_in(svg) ==
        std::vector<std::pair<std::string, double>>{{"conv1, 1: 10", 0.0},
                                                    {"a&lt;b, 1: 35", 0.5},
                                                    {"a&lt;b, 2: 70", 1.0}});  // beyond the darkest
  for (const char* text : {">first<", ">second<", ">iteration<", ">sparsity, %  10<", ">60<"}) {
    CHECK(svg.find(text) != std::string::npos);
  }
}

TEST_CASE("of many columns some are named, and long names keep their ends") {
  HeatMap map{.rows = {"layer1.0.downsample.a.long.name.conv1"}, .columns = {}, .values = {{}}};
  for (int i = 0; i < 200; ++i) {
    map.columns.emplace_back("c").append(std::to_string(i));
    map.values[0].push_back(0.5);
  }
  const std::string svg = heat_map({"Title", "", ""}, map);
  CHECK(cells_in(svg).size() == 200);
  static const std::regex name("rotate\\(-35\\)' text-anchor='end'>(c[0-9]+)<");
  const std::size_t names = matches(svg, name).size();
  CHECK(names >= 30);
  CHECK(names <= 60);
  CHECK(svg.find(">layer1.0.downsample.a.long.name.conv1<") == std::string::npos);
  CHECK(svg.find(">..le.a.long.name.conv1<") != std::string::npos);
}

TEST_CASE("equal bounds shade everything, and a table of nothing is nothing") {
  const HeatMap map{.rows = {"a"}, .columns = {"b"}, .values = {{1}}, .low = 1, .high = 1};
  CHECK(cells_in(heat_map({}, map)).front().second == 1.0);
  CHECK(heat_map({}, {}) == "");
  CHECK(heat_map({}, {.rows = {"a"}, .columns = {}, .values = {{}}}) == "");
}

}  // namespace
}  // namespace winnow
