// A comparison as JSON and as a table.
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "runtime/bench/compare.h"

namespace winnow {
namespace {

using Json = nlohmann::ordered_json;

Json statistics_json(const Statistics& s) {
  return {{"min", s.minimum}, {"mean", s.mean}, {"median", s.median}, {"p90", s.p90},
          {"p95", s.p95},     {"p99", s.p99},   {"max", s.maximum}};
}

Json layer_json(const LayerPlan& plan, const Statistics* ms) {
  Json layer = {{"name", plan.name},
                {"op", plan.op},
                {"family", plan.family},
                {"kernel", plan.kernel},
                {"output_shape", plan.output_shape},
                {"dense_macs", plan.macs},
                {"weight_sparsity", plan.weight_sparsity}};
  if (ms) layer["ms"] = statistics_json(*ms);
  for (const CandidateTiming& candidate : plan.candidates) {
    layer["candidates"].push_back(
        {{"family", candidate.family}, {"kernel", candidate.kernel}, {"ms", candidate.ms}});
  }
  return layer;
}

Json plan_json(const PlanTiming& plan, std::int64_t batch) {
  if (!plan.error.empty()) return {{"error", plan.error}};
  Json result = {{"network_ms", statistics_json(plan.network_ms)},
                 {"samples_per_second", 1e3 * static_cast<double>(batch) / plan.network_ms.median},
                 {"layers", Json::array()}};
  for (std::size_t i = 0; i < plan.layers.size(); ++i) {
    const Statistics* ms = i < plan.layer_ms.size() ? &plan.layer_ms[i] : nullptr;
    result["layers"].push_back(layer_json(plan.layers[i], ms));
  }
  return result;
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
  std::snprintf(line, sizeof line, "%-8s median %9.4f ms  p90 %9.4f  p99 %9.4f  %12.0f images/s",
                label, ms.median, ms.p90, ms.p99,
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
  const Json result = {{"device", comparison.device},
                       {"batch", comparison.batch},
                       {"precision", is_half ? "f16" : "f32"},
                       {"warm_up", options.warm_up},
                       {"repeats", options.repeats},
                       {"rounds", options.rounds},
                       {"dense", plan_json(comparison.dense, comparison.batch)},
                       {"sparse", plan_json(comparison.sparse, comparison.batch)},
                       {"chosen", plan_json(comparison.chosen, comparison.batch)}};
  return result.dump(2);
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
