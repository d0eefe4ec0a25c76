#include "runtime/report/network_drawing.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "runtime/base/number_text.h"
#include "runtime/report/html.h"
#include "runtime/report/network_lanes.h"

namespace winnow {
namespace {

constexpr double kWidth = 860, kTop = 64, kRow = 26, kLeft = 16;
constexpr double kWidestLanes = 160, kWidestLane = 18;
// Where columns begin, but for multiply-adds, which end at kMacs.
constexpr double kOp = 440, kShape = 560, kChip = 672, kMacs = 850, kChipWidth = 72;
constexpr std::size_t kLongestName = 44;
constexpr double kWhiteFrom = 0.62;  // sparsity of a chip on which white letters stand out better

struct Place {
  double lane_width;

  double x(std::size_t lane) const { return kLeft + lane_width * static_cast<double>(lane); }
  double y(std::size_t row) const { return kTop + kRow * (static_cast<double>(row) + 0.5); }
};

std::string text_at(double x, double y, const std::string& content, const char* attributes = "") {
  return "<text x='" + fixed(x, 1) + "' y='" + fixed(y, 1) + "'" + attributes + ">" +
         escape_html(content) + "</text>\n";
}

// Letters beyond ASCII take several bytes, of which none is left alone.
std::string shortened(const std::string& name) {
  if (name.size() <= kLongestName) return name;
  std::size_t end = kLongestName - 3;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xc0) == 0x80) --end;
  return name.substr(0, end) + "...";
}

// From light for dense to dark for sparse, in red, green and blue.
std::string chip_colour(double sparsity) {
  constexpr std::array<double, 3> kDense = {222, 235, 247}, kSparse = {8, 48, 107};
  std::string colour = "rgb(";
  for (std::size_t i = 0; i < 3; ++i) {
    if (i > 0) colour += ',';
    colour += fixed(kDense[i] + sparsity * (kSparse[i] - kDense[i]), 0);
  }
  return colour + ")";
}

std::string chip(double x, double y, double sparsity) {
  const double share = std::clamp(sparsity, 0.0, 1.0);
  return "<rect x='" + fixed(x, 1) + "' y='" + fixed(y - 9, 1) + "' width='" +
         fixed(kChipWidth, 1) + "' height='18' rx='4' fill='" + chip_colour(share) + "'/>\n" +
         text_at(x + kChipWidth / 2, y + 4, fixed(100 * share, 1) + " %",
                 share > kWhiteFrom ? " text-anchor='middle' class='on-dark'"
                                    : " text-anchor='middle' class='on-light'");
}

std::string heads(double text_x) {
  return text_at(text_x, kTop - 8, "node") + text_at(kOp, kTop - 8, "operation") +
         text_at(kShape, kTop - 8, "output") + text_at(kChip, kTop - 8, "weights zero") +
         text_at(kMacs, kTop - 8, "multiply-adds", " text-anchor='end'");
}

// Down the lane of `from`, then over to the lane of `to`.
std::string edge(const Place& place, const NetworkLanes& drawing, std::size_t from,
                 std::size_t to) {
  const double x1 = place.x(drawing.rows[from].lane), y1 = place.y(from);
  const double x2 = place.x(drawing.rows[to].lane), y2 = place.y(to);
  const std::string bend = fixed(y2 - kRow, 1);
  return "<path class='edge' d='M" + fixed(x1, 1) + " " + fixed(y1, 1) + " V" + bend + " C" +
         fixed(x1, 1) + " " + fixed(y2, 1) + " " + fixed(x2, 1) + " " + bend + " " + fixed(x2, 1) +
         " " + fixed(y2, 1) + "'/>\n";
}

std::string row_text(const std::vector<NodeFacts>& nodes, const NetworkRow& row, double x,
                     double y) {
  const NodeFacts& node = nodes[row.node];
  std::string op = node.op;
  for (const std::size_t follower : row.followers) op += " + " + nodes[follower].op;
  const NodeFacts& last = row.followers.empty() ? node : nodes[row.followers.back()];
  std::string svg = "<g><title>" + escape_html(node.name + ": " + op + ", " + last.output_shape) +
                    "</title>" + text_at(x, y + 4, shortened(node.name), " class='name'") +
                    text_at(kOp, y + 4, op.size() > 20 ? node.op + " + ..." : op) +
                    text_at(kShape, y + 4, last.output_shape);
  if (node.sparsity) svg += chip(kChip, y, *node.sparsity);
  if (node.dense_macs) {
    svg += text_at(kMacs, y + 4, large_number(*node.dense_macs), " text-anchor='end'");
  }
  return svg + "</g>\n";
}

std::string title_of(const std::vector<NodeFacts>& nodes, const std::string& name) {
  const auto weighted =
      std::ranges::count_if(nodes, [](const auto& n) { return n.sparsity.has_value(); });
  return (name.empty() ? "The network" : name) + ": " + std::to_string(nodes.size()) + " nodes, " +
         std::to_string(weighted) + " with weights";
}

}  // namespace

std::string network_drawing(const RunFacts& facts) {
  if (facts.nodes.empty()) return "";
  const NetworkLanes drawing = lanes_of(facts.nodes);
  const auto lanes = static_cast<double>(drawing.lanes);
  const Place place{std::min(kWidestLane, kWidestLanes / lanes)};
  const double text_x = kLeft + place.lane_width * lanes + 4;
  const double height = place.y(drawing.rows.size());
  const std::string title = title_of(facts.nodes, facts.network);
  std::string svg = "<svg viewBox='0 0 " + general(kWidth, 4) + " " + fixed(height, 0) +
                    "' role='img'>\n<title>" + escape_html(title) + "</title>\n<g class='title'>" +
                    text_at(kLeft, 18, title) + "</g>\n" + heads(text_x);
  for (std::size_t r = 0; r < drawing.rows.size(); ++r) {
    for (const std::size_t input : drawing.rows[r].inputs) svg += edge(place, drawing, input, r);
  }
  for (std::size_t r = 0; r < drawing.rows.size(); ++r) {
    const NetworkRow& row = drawing.rows[r];
    svg += "<circle cx='" + fixed(place.x(row.lane), 1) + "' cy='" + fixed(place.y(r), 1) +
           "' r='4'/>\n" + row_text(facts.nodes, row, text_x, place.y(r));
  }
  return scroll_box("Drawing of the network", svg + "</svg>\n");
}

}  // namespace winnow
