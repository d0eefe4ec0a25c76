#include "runtime/report/evolution_drawings.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "runtime/report/chart.h"
#include "runtime/report/fact_text.h"
#include "runtime/report/heat_map.h"
#include "runtime/report/html.h"

namespace winnow {
namespace {

constexpr std::size_t kMostCells = 8000;

std::string evolution_charts(const RunFacts& facts) {
  Series accuracy{"accuracy of the iteration", {}}, best{"best in the pool", {}};
  Series sparsity{"sparsity", {}}, loss{"loss", {}}, alpha{"alpha, mean of the layers", {}},
      migration{"migration", {}};
  for (const IterationPoint& point : facts.iterations) {
    const double at = point.iteration;
    accuracy.points.emplace_back(at, 100 * point.accuracy);
    best.points.emplace_back(at, 100 * point.pool_best);
    sparsity.points.emplace_back(at, 100 * point.sparsity);
    if (point.loss) loss.points.emplace_back(at, *point.loss);
    alpha.points.emplace_back(at, point.alpha);
    migration.points.emplace_back(at, point.migration);
  }
  return line_chart({"Pruning: validation accuracy", "iteration", "%"}, {accuracy, best}) +
         line_chart({"Pruning: weight sparsity", "iteration", "%"}, {sparsity}) +
         line_chart({"Pruning: loss", "iteration", "loss"}, {loss}) +
         line_chart({"Pruning: alpha of eq 2 and share of migrated weights", "iteration", ""},
                    {alpha, migration});
}

std::string action_counts(const RunFacts& facts) {
  std::vector<std::pair<std::string, int>> counts;
  for (const IterationPoint& point : facts.iterations) {
    auto found = std::find_if(counts.begin(), counts.end(),
                              [&](const auto& c) { return c.first == point.action; });
    if (found == counts.end()) found = counts.insert(counts.end(), {point.action, 0});
    ++found->second;
  }
  if (counts.empty()) return "";
  std::string text;
  for (const auto& [action, count] : counts) {
    text += (text.empty() ? "" : ", ") + action + " " + std::to_string(count);
  }
  const auto accepted = std::count_if(facts.iterations.begin(), facts.iterations.end(),
                                      [](const auto& point) { return point.is_accepted; });
  return "<p>Iterations accepted: " + std::to_string(accepted) + " of " +
         std::to_string(facts.iterations.size()) + "; by outcome: " + escape_html(text) + ".</p>\n";
}

double of_layer(const std::vector<std::pair<std::string, double>>& values,
                const std::string& layer) {
  for (const auto& [name, value] : values) {
    if (name == layer) return value;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

std::vector<std::string> names_of(const std::vector<std::pair<std::string, double>>& values) {
  std::vector<std::string> names;
  for (const auto& [name, value] : values) names.push_back(name);
  return names;
}

// Every trained solution, those that went into the pool apart from the others.
std::string solutions_chart(const RunFacts& facts) {
  Series accepted{"accepted", {}, false}, rewound{"rejected", {}, false};
  for (const IterationPoint& point : facts.iterations) {
    Series& series = point.is_accepted ? accepted : rewound;
    series.points.emplace_back(100 * point.sparsity, 100 * point.accuracy);
  }
  std::ranges::sort(accepted.points);
  std::ranges::sort(rewound.points);
  return line_chart(
      {"Trained solutions: validation accuracy against sparsity", "weight sparsity, %", "%"},
      {std::move(accepted), std::move(rewound)});
}

// Some iterations, evenly spaced, with the last one: a page of many cells is slow.
std::vector<IterationPoint> some_iterations(const RunFacts& facts, std::size_t layers) {
  const std::size_t most = std::max<std::size_t>(kMostCells / std::max<std::size_t>(layers, 1), 1);
  const std::size_t count = facts.iterations.size(), step = (count + most - 1) / most;
  std::vector<IterationPoint> some;
  for (std::size_t i = (count - 1) % step; i < count; i += step) {
    some.push_back(facts.iterations[i]);
  }
  return some;
}

std::string layers_over_time(const RunFacts& facts) {
  if (facts.iterations.empty()) return "";
  HeatMap map{.high = 100};
  map.rows = names_of(facts.iterations.back().sparsities);
  map.values.resize(map.rows.size());
  for (const IterationPoint& point : some_iterations(facts, map.rows.size())) {
    map.columns.push_back(decimal(point.iteration, 0));
    for (std::size_t r = 0; r < map.rows.size(); ++r) {
      map.values[r].push_back(100 * of_layer(point.sparsities, map.rows[r]));
    }
  }
  return heat_map(
      {"Sparsity of layers in the solution of each iteration", "iteration", "sparsity, %"}, map);
}

std::string population_drawing(const RunFacts& facts) {
  if (facts.population.empty()) return "";
  std::vector<MemberFacts> members = facts.population;
  std::ranges::stable_sort(members, [](const MemberFacts& a, const MemberFacts& b) {
    return std::pair(a.is_answer, a.accuracy) > std::pair(b.is_answer, b.accuracy);
  });
  HeatMap map{.high = 100};
  map.columns = names_of(members.front().sparsities);
  for (const MemberFacts& member : members) {
    map.rows.push_back((member.is_answer ? "answer " : "solution ") + member.solution);
    map.notes.push_back(percent(member.accuracy) + " at " + percent(member.sparsity) +
                        (member.fitness ? ", fitness " + decimal(*member.fitness, 4) : ""));
    auto& row = map.values.emplace_back();
    for (const std::string& layer : map.columns) {
      row.push_back(100 * of_layer(member.sparsities, layer));
    }
  }
  return heat_map({"Population at the end: sparsity by layer, accuracy at sparsity, fitness", "",
                   "sparsity, %"},
                  map);
}

std::string sensitivity_chart(const RunFacts& facts) {
  if (facts.iterations.empty()) return "";
  Bars bars{{}, {"sensitivity"}, {{}}};
  bool is_known = false;
  for (const auto& [layer, value] : facts.iterations.back().sensitivities) {
    bars.categories.push_back(layer);
    bars.values[0].push_back(100 * value);
    is_known = is_known || value != 0;
  }
  if (!is_known) return "";
  return bar_chart(
      {"Learned sensitivity: accuracy lost when a layer's density falls e times", "", "points"},
      bars);
}

}  // namespace

std::string evolution_drawings(const RunFacts& facts) {
  return action_counts(facts) + evolution_charts(facts) + solutions_chart(facts) +
         layers_over_time(facts) + population_drawing(facts) + sensitivity_chart(facts);
}

}  // namespace winnow
