#include "runtime/report/chart.h"

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <limits>

namespace winnow {
namespace {

constexpr double kWidth = 860, kHeight = 320;
constexpr double kLeft = 70, kRight = 20, kTop = 46, kBottom = 64;
const char* const kColours[] = {"#1f6feb", "#d1242f", "#1a7f37", "#9a6700", "#8250df", "#57606a"};

const char* colour(std::size_t index) {
  return kColours[index % std::size(kColours)];
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

std::string printf_text(const char* format, ...) __attribute__((format(printf, 1, 2)));
std::string printf_text(const char* format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return text;
}

std::string text_at(double x, double y, const char* anchor, const std::string& content) {
  return printf_text("<text x='%.1f' y='%.1f' text-anchor='%s'>", x, y, anchor) +
         escape_html(content) + "</text>\n";
}

std::string frame(const ChartText& text) {
  std::string svg = printf_text("<svg viewBox='0 0 %g %g' role='img'>\n", kWidth, kHeight);
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
    svg +=
        printf_text("<rect x='%.1f' y='9' width='10' height='10' fill='%s'/>\n", x + 2, colour(i));
    x -= 10;
  }
  return svg;
}

std::vector<double> ticks_of(const Axis& axis) {
  if (!axis.is_logarithmic) return round_ticks(axis.range.low, axis.range.high);
  std::vector<double> ticks;
  double tick = axis.range.low;
  while (tick <= axis.range.high * 1.0001) {
    ticks.push_back(tick);
    tick *= 10;
  }
  return ticks;
}

std::string horizontal_grid(const Axis& y) {
  std::string svg;
  for (const double tick : ticks_of(y)) {
    const double at = y.at(tick);
    svg += printf_text("<line class='grid' x1='%g' x2='%g' y1='%.1f' y2='%.1f'/>\n", kLeft,
                       kWidth - kRight, at, at);
    svg += text_at(kLeft - 6, at + 4, "end", format_number(tick));
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

std::string polyline(const Series& series, const Axis& x, const Axis& y, const char* stroke) {
  std::string svg =
      "<polyline fill='none' stroke-width='1.8' stroke='" + std::string(stroke) + "' points='";
  for (const auto& [px, py] : series.points) svg += printf_text("%.1f,%.1f ", x.at(px), y.at(py));
  return svg + "'/>\n";
}

Axis bar_axis(const Bars& bars) {
  Axis y{{0, 0}, kHeight - kBottom, kTop, bars.is_logarithmic};
  double smallest = std::numeric_limits<double>::infinity();
  for (const auto& row : bars.values) {
    for (const double value : row) {
      y.range.add(value);
      if (value > 0) smallest = std::min(smallest, value);
    }
  }
  if (bars.is_logarithmic && std::isfinite(smallest)) {
    y.range.low = std::pow(10, std::floor(std::log10(smallest)) - (smallest == y.range.high));
    y.range.high = std::pow(10, std::ceil(std::log10(y.range.high)));
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
    if (value <= 0) continue;
    const double top = y.at(std::max(value, y.range.low));
    svg += printf_text("<rect x='%.1f' y='%.1f' width='%.1f' height='%.1f' fill='%s'>",
                       x + width * 0.1 + bar * static_cast<double>(s), top, std::max(bar - 1, 0.5),
                       std::max(0.0, y.from - top), colour(s));
    svg += "<title>" +
           escape_html(bars.categories[c] + ": " + bars.names[s] + " " + format_number(value)) +
           "</title></rect>\n";
  }
  const double middle = x + width / 2, below = kHeight - kBottom + 12;
  svg += printf_text("<text transform='translate(%.1f %.1f) rotate(-35)' text-anchor='end'>",
                     middle, below) +
         escape_html(bars.categories[c]) + "</text>\n";
  return svg;
}

}  // namespace

std::string line_chart(const ChartText& text, const std::vector<Series>& series) {
  Axis x{{}, kLeft, kWidth - kRight}, y{{}, kHeight - kBottom, kTop};
  std::vector<const Series*> drawn;
  std::vector<std::string> names;
  for (const Series& s : series) {
    if (s.points.empty()) continue;
    drawn.push_back(&s);
    names.push_back(s.name);
    for (const auto& [px, py] : s.points) {
      x.range.add(px);
      y.range.add(py);
    }
  }
  if (drawn.empty()) return "";
  if (x.range.low == x.range.high) x.range.high += 1;
  widen(y.range);

  std::string svg = frame(text) + legend(names) + horizontal_grid(y);
  for (const double tick : round_ticks(x.range.low, x.range.high)) {
    if (tick < x.range.low || tick > x.range.high) continue;
    svg += text_at(x.at(tick), kHeight - kBottom + 16, "middle", format_number(tick));
  }
  for (std::size_t i = 0; i < drawn.size(); ++i) svg += polyline(*drawn[i], x, y, colour(i));
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
  return svg + "</svg>\n";
}

std::string escape_html(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '\'':
        safe += "&#39;";
        break;
      case '"':
        safe += "&quot;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

std::string format_number(double value) {
  return printf_text("%.4g", value);
}

std::vector<double> round_ticks(double low, double high) {
  const double raw = std::max((high - low) / 5, 1e-12);
  const double decade = std::pow(10, std::floor(std::log10(raw)));
  const double ratio = raw / decade;
  const double step = decade * (ratio <= 1 ? 1 : ratio <= 2 ? 2 : ratio <= 5 ? 5 : 10);
  std::vector<double> ticks;
  const double first = std::floor(low / step), last = std::ceil(high / step);
  for (int i = 0; i <= last - first; ++i) ticks.push_back((first + i) * step);
  return ticks;
}

}  // namespace winnow
