// A comparison as JSON and as a table.
#include <nlohmann/json.hpp>

#include "runtime/base/suggest.h"
#include "runtime/bench/compare.h"
#include "runtime/cli/program.h"
#include "runtime/cli/table.h"

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
    if (plan.layers[i].name == name) return fixed(plan.layer_ms[i].median, 4);
  }
  return "-";
}

std::string layer_table(const Comparison& comparison) {
  constexpr auto kRight = Table::Side::right;
  Table table({{"layer"},
               {"op"},
               {"sparse %", kRight},
               {"dense ms", kRight},
               {"sparse ms", kRight},
               {"chosen ms", kRight},
               {"chosen kernel"}});
  for (const LayerPlan& layer : comparison.chosen.layers) {
    table.add({layer.name, layer.op, fixed(100 * layer.weight_sparsity, 1),
               step_ms(comparison.dense, layer.name), step_ms(comparison.sparse, layer.name),
               step_ms(comparison.chosen, layer.name), layer.kernel});
  }
  return table.text();
}

// Times of the whole network. A plan that does not exist has no row but a line of its own.
std::string total_table(const Comparison& comparison) {
  constexpr auto kRight = Table::Side::right;
  Table table({{"plan"},
               {"median ms", kRight},
               {"p90 ms", kRight},
               {"p99 ms", kRight},
               {"samples/s", kRight},
               {"x dense", kRight}});
  std::string missing;
  const double dense = comparison.dense.network_ms.median;
  const auto add = [&](const char* name, const PlanTiming& plan) {
    if (!plan.error.empty()) {
      missing += std::string(name) + ": not available: " + one_line(plan.error) + "\n";
      return;
    }
    const Statistics& ms = plan.network_ms;
    table.add({name, fixed(ms.median, 4), fixed(ms.p90, 4), fixed(ms.p99, 4),
               fixed(1e3 * static_cast<double>(comparison.batch) / ms.median, 0),
               dense > 0 ? fixed(dense / ms.median, 2) : "-"});
  };
  add("dense", comparison.dense);
  add("sparse", comparison.sparse);
  add("chosen", comparison.chosen);
  return table.text() + missing;
}

}  // namespace

std::string comparison_json(const Comparison& comparison, const CompareOptions& options) {
  const bool is_half = options.session.precision == Precision::f16;
  const Json result = {{"command", "bench"},
                       {"version", version_text()},
                       {"device", comparison.device},
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
  return "device " + comparison.device + ", batch " + std::to_string(comparison.batch) + "\n" +
         layer_table(comparison) + "\n" + total_table(comparison);
}

}  // namespace winnow
