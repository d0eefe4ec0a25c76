#include "runtime/report/time_budget.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "runtime/report/chart.h"
#include "runtime/report/fact_text.h"
#include "runtime/report/html.h"

namespace winnow {
namespace {

// Accuracy is that of the validation images.
std::string frontier_chart(const RunFacts& facts) {
  Series iterations{"iteration", {}, false}, best{"frontier", {}};
  for (const IterationPoint& point : facts.iterations) {
    if (!point.predicted_ms) continue;
    iterations.points.emplace_back(*point.predicted_ms, 100 * point.accuracy);
  }
  std::ranges::sort(iterations.points);
  for (const auto& [ms, accuracy] : iterations.points) {
    const bool is_as_fast = !best.points.empty() && best.points.back().first == ms;
    if (!best.points.empty() && accuracy <= best.points.back().second) continue;
    if (is_as_fast) best.points.pop_back();
    best.points.emplace_back(ms, accuracy);
  }
  return line_chart({"Validation accuracy against predicted time", "ms of a pass", "%"},
                    {std::move(best), std::move(iterations)});
}

// "+5.7 %"
std::string difference(const TimePoint& point) {
  if (point.predicted_ms <= 0) return "-";
  const double percent = 100 * (point.measured_ms / point.predicted_ms - 1);
  std::string text = percent < 0 ? "" : "+";
  text += decimal(percent, 1);
  return text + " %";
}

std::string measurements_table(const RunFacts& facts) {
  HtmlTable table{
      "Deployed networks, in order",
      {{"network"}, {"predicted ms", true}, {"measured ms", true}, {"difference", true}},
      {},
      {}};
  for (const TimePoint& point : facts.measurements) {
    table.rows.push_back({point.network, decimal(point.predicted_ms, 4),
                          decimal(point.measured_ms, 4), difference(point)});
  }
  return html_table(table);
}

}  // namespace

std::string time_budget(const RunFacts& facts) {
  return frontier_chart(facts) + measurements_table(facts);
}

}  // namespace winnow
