// Charts as SVG text, for a page without scripts whose style has the colours (report_style.h).
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace winnow {

struct Series {
  std::string name;
  std::vector<std::pair<double, double>> points;  // x increasing
  bool is_joined = true;                          // by a line; else a dot stands at each point
};

struct ChartText {
  std::string title;
  std::string x_label;
  std::string y_label;
};

// Both charts leave out what is no number or lies beyond 1e15 in either direction.

// What stands where a line has a point.
enum class Marks { none, points };

// Lines over a common x axis. Series without points are left out; no points at all give "".
std::string line_chart(const ChartText& text, const std::vector<Series>& series,
                       Marks marks = Marks::none);

// Groups of bars: one group per category, one bar per series. values[s][c] belongs to names[s] and
// categories[c]. With `is_logarithmic` bars start at the decade below the smallest positive value.
struct Bars {
  std::vector<std::string> categories;
  std::vector<std::string> names;
  std::vector<std::vector<double>> values;
  bool is_logarithmic = false;
  // A line across all bars, with its meaning; none without one. Within a linear axis.
  std::pair<double, std::string> mark = {};
};
std::string bar_chart(const ChartText& text, const Bars& bars);

// Tick positions, one to seven round numbers that cover [low, high], within -1e15 to 1e15.
std::vector<double> round_ticks(double low, double high);

}  // namespace winnow
