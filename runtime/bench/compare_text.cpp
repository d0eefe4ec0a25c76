// A comparison as JSON and as a table.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>

#include "runtime/bench/compare.h"

namespace winnow {
namespace {

using Json = nlohmann::ordered_json;

// Whole nanoseconds: far below what any clock here resolves.
double rounded(double ms) {
  return std::round(ms * 1e6) / 1e6;
}

Json statistics_json(const Statistics& s) {
  return {{"min", rounded(s.minimum)}, {"p10", rounded(s.p10)},     {"median", rounded(s.median)},
          {"p90", rounded(s.p90)},     {"max", rounded(s.maximum)}, {"count", s.count}};
}

// All of them, or the fastest of each family: candidates are sorted by time.
Json candidates_json(const std::vector<CandidateTiming>& candidates, bool has_all) {
  Json list = Json::array();
  std::set<std::string> families;
  for (const CandidateTiming& candidate : candidates) {
    if (!families.insert(candidate.family).second && !has_all) continue;
    list.push_back({{"family", candidate.family},
                    {"kernel", candidate.kernel},
                    {"ms", rounded(candidate.ms)}});
  }
  return list;
}

Json layer_json(const LayerPlan& plan, const Statistics* ms, bool has_all_candidates) {
  Json layer = {{"name", plan.name},
                {"op", plan.op},
                {"family", plan.family},
                {"kernel", plan.kernel},
                {"output_shape", plan.output_shape},
                {"dense_macs", plan.macs},
                {"weight_sparsity", plan.weight_sparsity}};
  if (ms) layer["ms"] = statistics_json(*ms);
  if (!plan.candidates.empty()) {
    layer["kernels_timed"] = plan.candidates.size();
    layer["candidates"] = candidates_json(plan.candidates, has_all_candidates);
  }
  return layer;
}

// A layer takes one line.
std::string plan_json(const PlanTiming& plan, std::int64_t batch, bool has_all_candidates) {
  if (!plan.error.empty()) return Json{{"error", plan.error}}.dump();
  const double median = plan.network_ms.median;
  const Json head = {{"network_ms", statistics_json(plan.network_ms)},
                     {"samples_per_second", std::round(1e3 * static_cast<double>(batch) / median)}};
  std::string text = head.dump();
  text.back() = ',';  // the object goes on
  text += "\"layers\":[";
  for (std::size_t i = 0; i < plan.layers.size(); ++i) {
    const Statistics* ms = i < plan.layer_ms.size() ? &plan.layer_ms[i] : nullptr;
    text += i == 0 ? "\n  " : ",\n  ";
    text += layer_json(plan.layers[i], ms, has_all_candidates).dump();
  }
  return text + "]}";
}

// The median time of the step called `name`, or nothing to print.
std::string step_ms(const PlanTiming& plan, const std::string& name) {
  for (std::size_t i = 0; i < plan.layers.size() && i < plan.layer_ms.size(); ++i) {
    if (plan.layers[i].name != name) continue;
    char text[32];
    std::snprintf(text, sizeof text, "%.4f", plan.layer_ms[i].median);
    return text;
  }
  return "-";
}

void append_layer(std::string& table, const Comparison& comparison, const LayerPlan& layer) {
  char line[256];
  std::snprintf(line, sizeof line, "%-14s %-10s %9.1f %10s %10s %10s  %s\n", layer.name.c_str(),
                layer.op.c_str(), 100 * layer.weight_sparsity,
                step_ms(comparison.dense, layer.name).c_str(),
                step_ms(comparison.sparse, layer.name).c_str(),
                step_ms(comparison.chosen, layer.name).c_str(), layer.kernel.c_str());
  table += line;
}

void append_total(std::string& table, const char* label, const PlanTiming& plan,
                  const Comparison& comparison) {
  if (!plan.error.empty()) {
    table += std::string(label) + ": not available: " + plan.error + "\n";
    return;
  }
  const Statistics& ms = plan.network_ms;
  const double dense = comparison.dense.network_ms.median;
  char line[256];
  std::snprintf(line, sizeof line, "%-8s median %9.4f ms  p10 %9.4f  p90 %9.4f  %12.0f images/s",
                label, ms.median, ms.p10, ms.p90,
                1e3 * static_cast<double>(comparison.batch) / ms.median);
  table += line;
  if (dense > 0 && &plan != &comparison.dense) {
    std::snprintf(line, sizeof line, "  %.2fx dense", dense / ms.median);
    table += line;
  }
  table += "\n";
}

}  // namespace

std::string comparison_json(const Comparison& comparison, const CompareOptions& options) {
  const bool is_half = options.session.precision == Precision::f16;
  const Json head = {{"device", comparison.device},
                     {"batch", comparison.batch},
                     {"precision", is_half ? "f16" : "f32"},
                     {"tf32", options.session.use_tf32},
                     {"all_plans", options.session.all_plans},
                     {"warm_up", options.warm_up},
                     {"repeats", options.repeats},
                     {"rounds", options.rounds}};
  std::string text = head.dump();
  text.pop_back();  // the object goes on
  const auto append = [&](const char* name, const PlanTiming& plan) {
    text += std::string(",\n \"") + name + "\":";
    text += plan_json(plan, comparison.batch, options.all_candidates);
  };
  append("dense", comparison.dense);
  append("sparse", comparison.sparse);
  append("chosen", comparison.chosen);
  return text + "}";
}

std::string comparison_table(const Comparison& comparison) {
  char line[256];
  std::snprintf(line, sizeof line, "device %s, batch %lld\n%-14s %-10s %9s %10s %10s %10s  %s\n",
                comparison.device.c_str(), static_cast<long long>(comparison.batch), "layer", "op",
                "sparse %", "dense ms", "sparse ms", "chosen ms", "chosen kernel");
  std::string table = line;
  for (const LayerPlan& layer : comparison.chosen.layers) append_layer(table, comparison, layer);
  append_total(table, "dense", comparison.dense, comparison);
  append_total(table, "sparse", comparison.sparse, comparison);
  append_total(table, "chosen", comparison.chosen, comparison);
  return table;
}

}  // namespace winnow
