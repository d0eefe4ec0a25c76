#include "runtime/report/chart.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "runtime/base/number_text.h"
#include "runtime/report/html.h"

namespace winnow {
namespace {

constexpr double kWidth = 860, kHeight = 320;
constexpr double kLeft = 70, kRight = 20, kTop = 46, kBottom = 64;
// Above the first, doubles lie too far apart for ticks between them; what is positive and below the
// second is drawn as the second on a logarithmic axis.
constexpr double kLargestDrawn = 1e15, kSmallestDrawn = 1e-15;
constexpr int kMostDecades = 8;  // with a tick each
constexpr std::size_t kColours = 6;

// The page's style has the colour, since a light page needs another than a dark one.
std::string colour(std::size_t index) {
  return " class='series" + std::to_string(index % kColours) + "'";
}

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void add(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

// One axis: values to pixels.
struct Axis {
  Range range;
  double from, to;  // pixels
  bool is_logarithmic = false;

  double at(double value) const {
    if (is_logarithmic) {
      const double low = std::log10(range.low);
      return from + (std::log10(value) - low) / (std::log10(range.high) - low) * (to - from);
    }
    return from + (value - range.low) / (range.high - range.low) * (to - from);
  }
};

bool is_drawn(double value) {
  return std::abs(value) <= kLargestDrawn;  // false for what is not a number
}

// " x='12.5'": a place or a length in pixels.
std::string pixels(const char* name, double value) {
  return std::string(" ") + name + "='" + fixed(value, 1) + "'";
}

std::string text_at(double x, double y, const char* anchor, const std::string& content) {
  return "<text" + pixels("x", x) + pixels("y", y) + " text-anchor='" + anchor + "'>" +
         escape_html(content) + "</text>\n";
}

std::string frame(const ChartText& text) {
  std::string svg =
      "<svg viewBox='0 0 " + general(kWidth, 4) + " " + general(kHeight, 4) + "' role='img'>\n";
  svg += "<title>" + escape_html(text.title) + "</title>\n<g class='title'>" +
         text_at(kLeft, 18, "start", text.title) + "</g>\n";
  svg += text_at((kLeft + kWidth - kRight) / 2, kHeight - 6, "middle", text.x_label);
  svg += text_at(kLeft, 36, "start", text.y_label);
  return svg;
}

std::string legend(const std::vector<std::string>& names) {
  std::string svg;
  double x = kWidth - kRight;
  for (std::size_t i = names.size(); i-- > 0;) {
    svg += text_at(x, 18, "end", names[i]);
    x -= 7.0 * static_cast<double>(names[i].size()) + 18;
    svg += "<rect" + pixels("x", x + 2) + " y='9' width='10' height='10'" + colour(i) + "/>\n";
    x -= 10;
  }
  return svg;
}

std::vector<double> ticks_of(const Axis& axis) {
  if (!axis.is_logarithmic) return round_ticks(axis.range.low, axis.range.high);
  const auto low = std::lround(std::log10(axis.range.low));
  const auto high = std::lround(std::log10(axis.range.high));
  std::vector<double> ticks;
  const auto step = std::max((high - low + kMostDecades - 1) / kMostDecades, 1L);
  for (auto decade = low; decade <= high; decade += step) {
    ticks.push_back(std::pow(10, static_cast<double>(decade)));
  }
  return ticks;
}

std::string horizontal_grid(const Axis& y) {
  std::string svg;
  for (const double tick : ticks_of(y)) {
    const double at = y.at(tick);
    svg += "<line class='grid'" + pixels("x1", kLeft) + pixels("x2", kWidth - kRight) +
           pixels("y1", at) + pixels("y2", at) + "/>\n";
    svg += text_at(kLeft - 6, at + 4, "end", general(tick, 4));
  }
  return svg;
}

void widen(Range& range) {
  if (range.low == range.high) {
    range.low -= 0.5;
    range.high += 0.5;
  }
  const std::vector<double> ticks = round_ticks(range.low, range.high);
  range.low = std::min(range.low, ticks.front());
  range.high = std::max(range.high, ticks.back());
}

std::string polyline(const Series& series, const Axis& x, const Axis& y, std::size_t index) {
  std::string svg = "<polyline" + colour(index) + " points='";
  for (const auto& [px, py] : series.points) {
    svg += fixed(x.at(px), 1) + "," + fixed(y.at(py), 1) + " ";
  }
  return svg + "'/>\n";
}

// A dot at each point, which says where it is.
std::string dots(const Series& series, const Axis& x, const Axis& y, std::size_t index) {
  std::string svg;
  for (const auto& [px, py] : series.points) {
    svg += "<circle" + colour(index) + pixels("cx", x.at(px)) + pixels("cy", y.at(py)) + " r='4'>";
    svg += "<title>" + escape_html(series.name + ": " + general(px, 4) + ", " + general(py, 4)) +
           "</title></circle>\n";
  }
  return svg;
}

Axis bar_axis(const Bars& bars) {
  Axis y{{0, 0}, kHeight - kBottom, kTop, bars.is_logarithmic};
  double smallest = std::numeric_limits<double>::infinity();
  for (const auto& row : bars.values) {
    for (const double value : row) {
      if (!is_drawn(value)) continue;
      y.range.add(value);
      if (value > 0) smallest = std::min(smallest, std::max(value, kSmallestDrawn));
    }
  }
  if (!bars.mark.second.empty() && !bars.is_logarithmic) y.range.add(bars.mark.first);
  if (bars.is_logarithmic && std::isfinite(smallest)) {
    const double highest = std::max(y.range.high, smallest);
    y.range.low = std::pow(10, std::floor(std::log10(smallest)) - (smallest == highest));
    y.range.high = std::pow(10, std::ceil(std::log10(highest)));
  } else {
    y.is_logarithmic = false;
    widen(y.range);
  }
  return y;
}

std::string bar_group(const Bars& bars, std::size_t c, double x, double width, const Axis& y) {
  std::string svg;
  const double bar = width * 0.8 / static_cast<double>(bars.names.size());
  for (std::size_t s = 0; s < bars.names.size(); ++s) {
    const double value = bars.values[s][c];
    if (!is_drawn(value) || value == 0 || (y.is_logarithmic && value < 0)) continue;
    const double end = y.at(std::max(value, y.range.low));
    const double base = y.is_logarithmic ? y.from : y.at(0);
    svg += "<rect" + pixels("x", x + width * 0.1 + bar * static_cast<double>(s)) +
           pixels("y", std::min(base, end)) + pixels("width", std::max(bar - 1, 0.5)) +
           pixels("height", std::abs(base - end)) + colour(s) + ">";
    svg += "<title>" +
           escape_html(bars.categories[c] + ": " + bars.names[s] + " " + general(value, 4)) +
           "</title></rect>\n";
  }
  const double middle = x + width / 2, below = kHeight - kBottom + 12;
  svg += "<text transform='translate(" + fixed(middle, 1) + " " + fixed(below, 1) +
         ") rotate(-35)' text-anchor='end'>" + escape_html(bars.categories[c]) + "</text>\n";
  return svg;
}

std::string mark_line(const Bars& bars, const Axis& y) {
  const auto& [value, meaning] = bars.mark;
  if (meaning.empty() || y.is_logarithmic) return "";
  const std::string at = pixels("y1", y.at(value)) + pixels("y2", y.at(value));
  return "<line class='mark'" + pixels("x1", kLeft) + pixels("x2", kWidth - kRight) + at + "/>\n" +
         "<g class='title over'>" + text_at(kWidth - kRight, y.at(value) - 4, "end", meaning) +
         "</g>\n";
}

}  // namespace

std::string line_chart(const ChartText& text, const std::vector<Series>& series, Marks marks) {
  Axis x{{}, kLeft, kWidth - kRight}, y{{}, kHeight - kBottom, kTop};
  std::vector<Series> drawn;
  std::vector<std::string> names;
  for (Series s : series) {
    std::erase_if(s.points,
                  [](const auto& p) { return !is_drawn(p.first) || !is_drawn(p.second); });
    if (s.points.empty()) continue;
    names.push_back(s.name);
    for (const auto& [px, py] : s.points) {
      x.range.add(px);
      y.range.add(py);
    }
    drawn.push_back(std::move(s));
  }
  if (drawn.empty()) return "";
  if (x.range.low == x.range.high) x.range.high += 1;
  widen(y.range);

  std::string svg = frame(text) + legend(names) + horizontal_grid(y);
  for (const double tick : round_ticks(x.range.low, x.range.high)) {
    if (tick < x.range.low || tick > x.range.high) continue;
    svg += text_at(x.at(tick), kHeight - kBottom + 16, "middle", general(tick, 4));
  }
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    if (drawn[i].is_joined) svg += polyline(drawn[i], x, y, i);
    if (marks == Marks::points || !drawn[i].is_joined) svg += dots(drawn[i], x, y, i);
  }
  return svg + "</svg>\n";
}

std::string bar_chart(const ChartText& text, const Bars& bars) {
  if (bars.categories.empty() || bars.names.empty()) return "";
  const Axis y = bar_axis(bars);
  const double width = (kWidth - kLeft - kRight) / static_cast<double>(bars.categories.size());
  std::string svg = frame(text) + legend(bars.names) + horizontal_grid(y);
  for (std::size_t c = 0; c < bars.categories.size(); ++c) {
    svg += bar_group(bars, c, kLeft + width * static_cast<double>(c), width, y);
  }
  return svg + mark_line(bars, y) + "</svg>\n";
}

std::vector<double> round_ticks(double low, double high) {
  // A step is wide enough that neighbouring ticks are different numbers.
  const double largest = std::max(std::abs(low), std::abs(high));
  const double raw = std::max({(high - low) / 5, 1e-12, largest * 1e-14});
  const double decade = std::pow(10, std::floor(std::log10(raw)));
  const double ratio = raw / decade;
  const double step = decade * (ratio <= 1 ? 1 : ratio <= 2 ? 2 : ratio <= 5 ? 5 : 10);
  std::vector<double> ticks;
  // 0.3 / 0.05 is a little more than 6: what lies on a tick needs none beyond it.
  constexpr double kOnTick = 1e-9;
  const double first = std::floor(low / step + kOnTick), last = std::ceil(high / step - kOnTick);
  for (int i = 0; i <= last - first; ++i) ticks.push_back((first + i) * step);
  return ticks;
}

}  // namespace winnow
