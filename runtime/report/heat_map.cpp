#include "runtime/report/heat_map.h"

#include <algorithm>
#include <cmath>

#include "runtime/base/number_text.h"
#include "runtime/report/html.h"

namespace winnow {
namespace {

constexpr double kWidth = 860, kTop = 52, kRow = 18, kNames = 150, kNotes = 150, kBottom = 78;
constexpr double kLegendCell = 22;
constexpr int kLegendSteps = 5;
constexpr double kNarrowestName = 15;  // pixels that a slanted column name needs
constexpr std::size_t kLongestName = 22;

std::string pixels(const char* name, double value) {
  return std::string(" ") + name + "='" + fixed(value, 1) + "'";
}

std::string text_at(double x, double y, const char* anchor, const std::string& content) {
  return "<text" + pixels("x", x) + pixels("y", y) + " text-anchor='" + anchor + "'>" +
         escape_html(content) + "</text>\n";
}

// The end says more of a layer than the beginning: "layer4.2.conv3".
std::string shortened(const std::string& name) {
  if (name.size() <= kLongestName) return name;
  std::size_t begin = name.size() - (kLongestName - 2);
  while (begin < name.size() && (static_cast<unsigned char>(name[begin]) & 0xc0) == 0x80) ++begin;
  return ".." + name.substr(begin);
}

// The page's style mixes the colour by --shade.
std::string cell(double x, double y, double width, double height, double shade,
                 const std::string& title) {
  return "<rect class='cell' style='--shade:" + fixed(shade, 3) + "'" + pixels("x", x) +
         pixels("y", y) + pixels("width", width) + pixels("height", height) + "><title>" +
         escape_html(title) + "</title></rect>\n";
}

double shade_of(const HeatMap& map, double value) {
  if (!(map.high > map.low)) return 1.0;
  return std::clamp((value - map.low) / (map.high - map.low), 0.0, 1.0);
}

std::string legend(const ChartText& text, const HeatMap& map) {
  const double end = kWidth - 44, begin = end - kLegendSteps * kLegendCell;
  std::string svg = text_at(begin - 6, 19, "end", text.y_label + "  " + general(map.low, 3));
  for (int i = 0; i < kLegendSteps; ++i) {
    const double share = static_cast<double>(i) / (kLegendSteps - 1);
    svg += cell(begin + i * kLegendCell, 8, kLegendCell, 14, share,
                general(map.low + share * (map.high - map.low), 3));
  }
  return svg + text_at(end + 6, 19, "start", general(map.high, 3));
}

struct Layout {
  double left, cell_width, bottom;
};

std::string row(const HeatMap& map, std::size_t r, const Layout& layout) {
  const double y = kTop + kRow * static_cast<double>(r);
  std::string svg = text_at(layout.left - 6, y + 13, "end", shortened(map.rows[r]));
  for (std::size_t c = 0; c < map.columns.size(); ++c) {
    const double value = map.values[r][c];
    if (!std::isfinite(value)) continue;
    const double x = layout.left + layout.cell_width * static_cast<double>(c);
    svg += cell(x, y, std::max(layout.cell_width - 0.6, 0.4), kRow - 1, shade_of(map, value),
                map.rows[r] + ", " + map.columns[c] + ": " + general(value, 4));
  }
  if (map.notes.empty()) return svg;
  const double end = layout.left + layout.cell_width * static_cast<double>(map.columns.size());
  return svg + text_at(end + 8, y + 13, "start", map.notes[r]);
}

std::string column_names(const HeatMap& map, const Layout& layout) {
  const auto step =
      static_cast<std::size_t>(std::max(1.0, std::ceil(kNarrowestName / layout.cell_width)));
  std::string svg;
  for (std::size_t c = 0; c < map.columns.size(); c += step) {
    const double x = layout.left + layout.cell_width * (static_cast<double>(c) + 0.5);
    svg += "<text transform='translate(" + fixed(x, 1) + " " + fixed(layout.bottom + 12, 1) +
           ") rotate(-35)' text-anchor='end'>" + escape_html(shortened(map.columns[c])) +
           "</text>\n";
  }
  return svg;
}

}  // namespace

std::string heat_map(const ChartText& text, const HeatMap& map) {
  if (map.rows.empty() || map.columns.empty()) return "";
  const double right = map.notes.empty() ? 20 : kNotes;
  const double bottom = kTop + kRow * static_cast<double>(map.rows.size());
  const Layout layout = {
      kNames, (kWidth - kNames - right) / static_cast<double>(map.columns.size()), bottom};
  const double height = bottom + kBottom;
  std::string svg =
      "<svg viewBox='0 0 " + general(kWidth, 4) + " " + general(height, 6) + "' role='img'>\n";
  svg += "<title>" + escape_html(text.title) + "</title>\n<g class='title'>" +
         text_at(16, 19, "start", text.title) + "</g>\n" + legend(text, map);
  for (std::size_t r = 0; r < map.rows.size(); ++r) svg += row(map, r, layout);
  svg += column_names(map, layout);
  svg += text_at((layout.left + kWidth - right) / 2, height - 6, "middle", text.x_label);
  return svg + "</svg>\n";
}

}  // namespace winnow
