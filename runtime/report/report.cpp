#include "runtime/report/report.h"

#include <algorithm>

#include "runtime/base/file.h"
#include "runtime/base/suggest.h"
#include "runtime/report/agreement.h"
#include "runtime/report/chart.h"
#include "runtime/report/evolution_drawings.h"
#include "runtime/report/fact_text.h"
#include "runtime/report/html.h"
#include "runtime/report/kernel_table.h"
#include "runtime/report/network_drawing.h"
#include "runtime/report/time_budget.h"

namespace winnow {
namespace {

using Row = std::pair<std::string, std::string>;

// Percent of sparsity: Pietron and Zurek, "When deep learning models on GPU can be accelerated by
// taking advantage of unstructured sparsity", 2022, section 6, figures 3 and 4.
constexpr double kPaysFrom = 90;

// "vgg16, vgg on cifar10 in data": what is known of it.
std::string run_text(const RunFacts& facts) {
  std::string what = facts.network;
  if (!facts.data.empty()) what += (what.empty() ? "on " : " on ") + facts.data;
  const std::string text = facts.name + (facts.name.empty() || what.empty() ? "" : ", ") + what;
  return text.empty() ? "-" : text;
}

// "accuracy, quantized 4b/16b"; without what is not known.
std::string label(const std::string& what, const std::string& detail) {
  return detail.empty() ? what : what + " " + detail;
}

void add_times(std::vector<Row>& rows, const BatchFacts& batch) {
  const std::string at = " (batch " + std::to_string(batch.batch) + ", " + batch.precision + ")";
  rows.emplace_back("time per image, dense" + at, per_image(batch.dense_ms, batch.batch));
  rows.emplace_back("time per image, sparse" + at, per_image(batch.sparse_ms, batch.batch));
  std::string chosen = per_image(batch.chosen_ms, batch.batch);
  if (batch.dense_ms && batch.chosen_ms > 0) {
    chosen += " (" + decimal(*batch.dense_ms / batch.chosen_ms, 2) + "x dense)";
  }
  rows.emplace_back("time per image, chosen" + at, chosen);
}

std::vector<Row> summary_rows(const RunFacts& facts) {
  std::vector<Row> rows = {
      {"run", run_text(facts)},
      {"accuracy, dense", percent(facts.dense_accuracy)},
      {"accuracy, pruned", percent(facts.pruned_accuracy)},
      {label("accuracy, quantized", facts.scheme), percent(facts.quantized_accuracy)},
      {label("accuracy, deployed",
             facts.deployed_device.empty() ? "" : "on " + facts.deployed_device),
       percent(facts.deployed_accuracy)},
      {"weight sparsity", percent(facts.sparsity)},
      {"weights as dense fp32", bytes(facts.dense_f32_bytes)},
      {"model file", bytes(facts.file_bytes) + ratio(facts.dense_f32_bytes, facts.file_bytes)}};
  for (const BatchFacts& batch : facts.batches) add_times(rows, batch);
  if (!facts.batches.empty()) rows.emplace_back("timed on", facts.batches.front().device);
  return rows;
}

std::string training_charts(const RunFacts& facts) {
  Series loss{"loss", {}}, accuracy{"validation accuracy %", {}};
  for (const EpochPoint& point : facts.epochs) {
    if (point.loss) loss.points.emplace_back(point.epoch, *point.loss);
    if (point.accuracy) accuracy.points.emplace_back(point.epoch, 100 * *point.accuracy);
  }
  return line_chart({"Dense training: loss", "epoch", "loss"}, {loss}) +
         line_chart({"Dense training: accuracy", "epoch", "%"}, {accuracy});
}

std::string layer_charts(const RunFacts& facts) {
  Bars sparsity{{}, {"sparsity"}, {{}}}, size{{}, {"dense fp32", "stored"}, {{}, {}}, true};
  for (const LayerFacts& layer : facts.layers) {
    if (layer.weights > 0) {
      const std::string& granularity = layer.granularity;
      sparsity.categories.push_back(layer.name + (granularity.empty() ? "" : ", " + granularity));
      sparsity.values[0].push_back(100 * layer.sparsity);
    }
    if (layer.stored_bytes && layer.dense_f32_bytes) {
      size.categories.push_back(layer.name);
      size.values[0].push_back(*layer.dense_f32_bytes);
      size.values[1].push_back(*layer.stored_bytes);
    }
  }
  sparsity.mark = {kPaysFrom, "90 %: sparse convolutions of paper 003 pay above it"};
  return bar_chart({"Sparsity by layer", "", "%"}, sparsity) +
         bar_chart({"Size by layer", "", "bytes (logarithmic)"}, size);
}

std::string time_charts(const RunFacts& facts) {
  std::string svg;
  for (const BatchFacts& batch : facts.batches) {
    Bars bars{{}, {"dense", "sparse", "chosen"}, {{}, {}, {}}};
    for (const LayerTime& layer : batch.layers) {
      bars.categories.push_back(layer.name);
      bars.values[0].push_back(layer.dense_ms.value_or(0));
      bars.values[1].push_back(layer.sparse_ms.value_or(0));
      bars.values[2].push_back(layer.chosen_ms);
    }
    svg += bar_chart({"Time by layer, batch " + std::to_string(batch.batch) + ", " +
                          batch.precision + ", " + batch.device,
                      "", "ms"},
                     bars);
  }
  return svg;
}

// A part of the page, or the command that makes what it would show.
std::string section(const std::string& title, const std::string& content, const char* maker) {
  const std::string missing = std::string("<p class='missing'>Not there yet: ") + maker + "</p>\n";
  return "<h2>" + escape_html(title) + "</h2>\n" + (content.empty() ? missing : content);
}

std::string sections(const RunFacts& facts) {
  const std::string time = time_budget(facts);
  return section(
             "Training", training_charts(facts),
             "<code>prune --config FILE</code> with <code>train.epochs</code> above 0 leaves it "
             "in metrics.jsonl.") +
         section("Pruning", evolution_drawings(facts),
                 "<code>prune --config FILE</code> leaves it in metrics.jsonl.") +
         (time.empty() ? "" : section("Budget of time", time, "")) +
         section(
             "Layers", layer_charts(facts),
             "<code>prune</code> leaves sparsity in prune.json, <code>export --in CHECKPOINT -o "
             "MODEL</code> bytes in export.json.") +
         section("Network", network_drawing(facts),
                 "<code>runtime inspect MODEL --json RUN_FOLDER/inspect.json</code>") +
         section("Speed", time_charts(facts) + kernel_tables(facts),
                 "<code>runtime bench MODEL --json RUN_FOLDER/bench.json</code>") +
         section(
             "Deployed against dense", agreement_tables(facts),
             "<code>runtime run MODEL --data FORMAT:DIR --against DENSE_MODEL --json "
             "RUN_FOLDER/run.json</code>, where DENSE_MODEL is what <code>export</code> makes of "
             "dense.safetensors or of an imported network.");
}

std::string summary_html(const RunFacts& facts) {
  HtmlTable table{"Summary", {{"of the run"}, {"result"}}, {}, {}};
  for (const auto& [label, value] : summary_rows(facts)) table.rows.push_back({label, value});
  return html_table(table);
}

}  // namespace

std::string summary_table(const RunFacts& facts) {
  std::vector<Row> rows = summary_rows(facts);
  std::size_t width = 0;
  for (auto& [label, value] : rows) {
    label = one_line(label);
    value = one_line(value);
    width = std::max(width, label.size());
  }
  std::string table;
  for (const auto& [label, value] : rows) {
    table += label + std::string(width - label.size() + 2, ' ') + value + "\n";
  }
  return table;
}

std::string report_page(const RunFacts& facts) {
  std::string content = summary_html(facts) + sections(facts);
  if (!facts.config_text.empty()) {
    content +=
        "<h2>Configuration</h2>\n<pre tabindex='0'>" + escape_html(facts.config_text) + "</pre>\n";
  }
  return html_page(facts.name.empty() ? "Report of a run" : facts.name, content);
}

std::string write_report(const std::string& folder) {
  std::string path = folder + "/report.html";
  write_file_atomically(path, report_page(read_run_facts(folder)));
  return path;
}

}  // namespace winnow
