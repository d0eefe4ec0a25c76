// What a chart shows, read back from its SVG text.
#pragma once

#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "tests/throws.h"

namespace winnow {

using Points = std::vector<std::pair<double, double>>;

inline std::vector<std::smatch> matches(const std::string& text, const std::regex& pattern) {
  return {std::sregex_iterator(text.begin(), text.end(), pattern), std::sregex_iterator()};
}

// Turns pixels into values by two labels of an axis: value = at + slope (pixel - from).
struct Scale {
  double from, at, slope;

  double value(double pixel) const { return at + slope * (pixel - from); }
};

// The labels of an axis as (pixel, value); the first and the last of them are the scale.
inline Scale scale_of(const std::vector<std::pair<double, double>>& labels) {
  if (labels.size() < 2) fail(ErrorCode::internal, "an axis with ", labels.size(), " labels");
  const auto [first, low] = labels.front();
  const auto [last, high] = labels.back();
  return {first, low, (high - low) / (last - first)};
}

// Labels stand right of centre below the x axis, and at the left end of the lines of the y axis, 4
// pixels below them.
inline Scale x_scale(const std::string& svg) {
  std::vector<std::pair<double, double>> labels;
  static const std::regex pattern(
      "<text x='([0-9.]+)' y='272.0' text-anchor='middle'>([-+.e0-9]+)</text>");
  for (const std::smatch& m : matches(svg, pattern)) labels.emplace_back(stod(m[1]), stod(m[2]));
  return scale_of(labels);
}
inline Scale y_scale(const std::string& svg) {
  std::vector<std::pair<double, double>> labels;
  static const std::regex pattern(
      "<text x='64.0' y='([0-9.]+)' text-anchor='end'>([-+.e0-9]+)</text>");
  for (const std::smatch& m : matches(svg, pattern)) {
    labels.emplace_back(stod(m[1]) - 4, stod(m[2]));
  }
  return scale_of(labels);
}

// The points of every line in the units of the axes, as their labels say them.
inline std::vector<Points> lines_in(const std::string& svg) {
  static const std::regex line("<polyline [^>]*points='([^']*)'/>"), point("([-0-9.]+),([-0-9.]+)");
  const Scale x = x_scale(svg), y = y_scale(svg);
  std::vector<Points> lines;
  for (const std::smatch& m : matches(svg, line)) {
    Points points;
    const std::string text = m[1];
    for (const std::smatch& p : matches(text, point)) {
      points.emplace_back(x.value(stod(p[1])), y.value(stod(p[2])));
    }
    lines.push_back(std::move(points));
  }
  return lines;
}

// Heights of the bars in the units of the axis, by what stands in their titles: "conv1: dense 10".
inline std::vector<std::pair<std::string, double>> bars_in(const std::string& svg) {
  static const std::regex bar("<rect [^>]*y='([0-9.]+)' [^>]*><title>([^<]*)</title></rect>");
  const Scale y = y_scale(svg);
  std::vector<std::pair<std::string, double>> bars;
  for (const std::smatch& m : matches(svg, bar)) bars.emplace_back(m[2], y.value(stod(m[1])));
  return bars;
}

}  // namespace winnow
