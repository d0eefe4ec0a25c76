#include "runtime/report/frontier.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "runtime/base/error.h"
#include "runtime/base/suggest.h"
#include "runtime/cli/table.h"
#include "runtime/report/chart.h"
#include "runtime/report/fact_text.h"
#include "runtime/report/html.h"
#include "runtime/report/run_facts.h"

namespace winnow {
namespace {

constexpr char kDense[] = "dense";

struct Run {
  std::string folder;
  RunFacts facts;

  const StageFacts* prune() const {
    const auto found = std::ranges::find(facts.stages, "prune", &StageFacts::stage);
    return found == facts.stages.end() ? nullptr : &*found;
  }
};

const BatchFacts& times_of(const Run& run, const Frontier& frontier) {
  for (const BatchFacts& batch : run.facts.batches) {
    if (batch.batch != frontier.batch) continue;
    if (batch.device != frontier.device || batch.precision != frontier.precision) {
      fail(ErrorCode::usage, run.folder, "/bench.json: found times of ", in_quotes(batch.device),
           ", ", batch.precision, ", the first run's are of ", in_quotes(frontier.device), ", ",
           frontier.precision);
    }
    return batch;
  }
  fail(ErrorCode::usage, run.folder, "/bench.json: no times of batch ", frontier.batch,
       "; runtime bench MODEL --json writes it");
}

FrontierPoint point_of(const Run& run, const BatchFacts& times) {
  FrontierPoint point;
  point.run = run.facts.name.empty() ? run.folder : run.facts.name;
  const StageFacts* const prune = run.prune();
  point.granularity = kDense;
  if (prune) {
    const auto found = prune->values.find("granularity");
    point.granularity = found == prune->values.end() ? "element" : found->second;
  }
  const auto accuracy =
      run.facts.deployed_accuracy ? run.facts.deployed_accuracy : run.facts.pruned_accuracy;
  if (!accuracy) {
    fail(ErrorCode::usage, run.folder,
         ": no accuracy; runtime run MODEL --data ... --json writes run.json");
  }
  point.accuracy = *accuracy;
  point.ms = prune ? times.chosen_ms : times.dense_ms.value_or(times.chosen_ms);
  point.sparsity = run.facts.sparsity;
  point.predicted_ms = run.facts.predicted_ms;
  point.dense_ms = times.against_ms;
  if (const std::size_t removed = run.facts.removed_layers; removed > 0) {
    point.granularity += ", " + std::to_string(removed) + " layers left out";
  }
  return point;
}

// Where nothing was timed in turns with the run.
double own_dense_ms(const RunFacts& facts, const BatchFacts& times) {
  const bool is_same_device = facts.table_device.empty() || facts.table_device == times.device;
  return std::max(times.dense_ms.value_or(0),
                  is_same_device ? facts.table_dense_ms.value_or(0) : 0);
}

// Of the runs' dense baselines.
std::optional<FrontierPoint> own_dense(std::span<const Run> runs, const Frontier& frontier) {
  FrontierPoint dense{.run = "dense baseline", .granularity = kDense};
  double alone = 0, in_turns = 0;
  for (const Run& run : runs) {
    if (!run.facts.dense_accuracy || run.facts.removed_layers > 0) continue;
    const BatchFacts& times = times_of(run, frontier);
    dense.accuracy = std::max(dense.accuracy, *run.facts.dense_accuracy);
    alone = std::max(alone, own_dense_ms(run.facts, times));
    in_turns = std::max(in_turns, times.against_ms.value_or(0));
  }
  dense.ms = in_turns > 0 ? in_turns : alone;
  return dense.ms > 0 ? std::optional(dense) : std::nullopt;
}

void mark_best(std::vector<FrontierPoint>& points) {
  for (FrontierPoint& point : points) {
    point.is_best = std::ranges::none_of(points, [&](const FrontierPoint& other) {
      return other.ms <= point.ms && other.accuracy >= point.accuracy &&
             (other.ms < point.ms || other.accuracy > point.accuracy);
    });
  }
}

double dense_ms(const Frontier& frontier) {
  const FrontierPoint& first = frontier.points.front();
  return first.granularity == kDense ? first.ms : 0;
}

// As the dense network that was timed in turns with it, or as that of all points.
std::string times_as_fast(const FrontierPoint& point, double dense) {
  const double ms = point.dense_ms.value_or(dense);
  return ms > 0 ? decimal(ms / point.ms, 2) : "-";
}

std::vector<std::string> cells(const FrontierPoint& point, double dense) {
  return {point.run,
          point.granularity,
          percent(point.accuracy),
          percent(point.sparsity),
          decimal(point.ms, 4),
          times_as_fast(point, dense),
          point.predicted_ms ? decimal(*point.predicted_ms, 4) : "-",
          point.is_best ? "yes" : ""};
}

constexpr const char* kTitles[] = {"run", "granularity", "accuracy",  "sparsity",
                                   "ms",  "x dense",     "predicted", "best"};

std::string heading(const Frontier& frontier) {
  return "batch " + std::to_string(frontier.batch) + ", " + frontier.precision + ", " +
         frontier.device;
}

}  // namespace

Frontier read_frontier(std::span<const std::string> folders, std::int64_t batch) {
  std::vector<Run> runs;
  for (const std::string& folder : folders) runs.push_back({folder, read_run_facts(folder)});
  Frontier frontier;
  if (runs.front().facts.batches.empty()) {
    fail(ErrorCode::usage, folders.front(), ": no times; runtime bench MODEL --json ",
         folders.front(), "/bench.json writes them");
  }
  const BatchFacts& first = runs.front().facts.batches.front();
  frontier = {first.device, first.precision, batch > 0 ? batch : first.batch, {}};
  for (const Run& run : runs) frontier.points.push_back(point_of(run, times_of(run, frontier)));
  const bool has_dense = std::ranges::any_of(
      frontier.points, [](const FrontierPoint& point) { return point.granularity == kDense; });
  if (const auto dense = own_dense(runs, frontier); dense && !has_dense) {
    frontier.points.push_back(*dense);
  }
  std::ranges::stable_sort(frontier.points, {}, [](const FrontierPoint& point) {
    return std::tuple(point.granularity != kDense, point.granularity, point.ms);
  });
  mark_best(frontier.points);
  return frontier;
}

std::string frontier_page(const Frontier& frontier) {
  std::vector<Series> series;
  HtmlTable table{"Runs", {}, {}, {}};
  for (const char* title : kTitles) {
    table.columns.push_back({title, table.columns.size() > 1 && table.columns.size() < 7});
  }
  for (const FrontierPoint& point : frontier.points) {
    if (series.empty() || series.back().name != point.granularity) {
      series.push_back({point.granularity, {}});
    }
    series.back().points.emplace_back(point.ms, 100 * point.accuracy);
    table.rows.push_back(cells(point, dense_ms(frontier)));
  }
  const ChartText text{"Accuracy against time, " + heading(frontier), "ms of a pass", "%"};
  return html_page("Accuracy against time",
                   line_chart(text, series, Marks::points) + html_table(table));
}

std::string frontier_table(const Frontier& frontier) {
  std::vector<Table::Column> columns;
  for (const char* title : kTitles) columns.push_back({title});
  Table table(std::move(columns));
  for (const FrontierPoint& point : frontier.points) table.add(cells(point, dense_ms(frontier)));
  return one_line(heading(frontier)) + "\n" + table.text();
}

}  // namespace winnow
