// A comparison as JSON and as a table.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "runtime/base/number_text.h"
#include "runtime/base/suggest.h"
#include "runtime/base/version.h"
#include "runtime/bench/compare.h"
#include "runtime/cli/program.h"
#include "runtime/cli/table.h"
#include "runtime/plan/plan_json.h"

namespace winnow {
namespace {

using Json = nlohmann::ordered_json;

Json statistics_json(const Statistics& s) {
  return {{"min", rounded_ms(s.minimum)},   {"p10", rounded_ms(s.p10)},
          {"median", rounded_ms(s.median)}, {"p90", rounded_ms(s.p90)},
          {"max", rounded_ms(s.maximum)},   {"count", s.count}};
}

Json layer_json(const LayerPlan& plan, const Statistics* ms, bool has_all_candidates) {
  Json layer = layer_plan_json(plan);
  if (ms) layer["ms"] = statistics_json(*ms);
  append_candidates(plan, has_all_candidates, layer);
  return layer;
}

// A layer takes one line.
std::string plan_timing_json(const PlanTiming& plan, std::int64_t batch, bool has_all_candidates) {
  if (!plan.error.empty()) return Json{{"error", plan.error}}.dump();
  const double median = plan.network_ms.median;
  Json head = {{"network_ms", statistics_json(plan.network_ms)},
               {"timings", counts_json(plan.timings)},
               {"samples_per_second", std::round(1e3 * static_cast<double>(batch) / median)},
               {"samples_per_second_with_copies", std::round(plan.copied_per_second)}};
  if (!plan.networks.empty()) head["networks"] = networks_json(plan.networks);
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
    if (plan.layers[i].name == name) return fixed(plan.layer_ms[i].median, 4);
  }
  return "-";
}

Table layer_table(const Comparison& comparison) {
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
  return table;
}

std::string median_text(const PlanTiming& plan) {
  return plan.error.empty() ? fixed(plan.network_ms.median, 4) : "-";
}

// One table of all, whose lines can stand below those of other comparisons.
std::string csv_of(const Comparison& comparison, bool has_titles) {
  Table table({{"device"},
               {"batch"},
               {"layer"},
               {"op"},
               {"sparse %"},
               {"dense ms"},
               {"sparse ms"},
               {"chosen ms"},
               {"chosen kernel"}});
  const std::string batch = std::to_string(comparison.batch);
  for (const LayerPlan& layer : comparison.chosen.layers) {
    table.add({comparison.device, batch, layer.name, layer.op,
               fixed(100 * layer.weight_sparsity, 1), step_ms(comparison.dense, layer.name),
               step_ms(comparison.sparse, layer.name), step_ms(comparison.chosen, layer.name),
               layer.kernel});
  }
  table.add({comparison.device, batch, "network", "", "", median_text(comparison.dense),
             median_text(comparison.sparse), median_text(comparison.chosen)});
  if (comparison.against) {
    table.add({comparison.device, batch, "against", "", "", "", "",
               median_text(*comparison.against), comparison.against_name});
  }
  const std::string text = table.text(TableForm::csv);
  return has_titles ? text : text.substr(text.find('\n') + 1);
}

// Times of the whole network. A plan that does not exist has no row but a line of its own.
std::string total_table(const Comparison& comparison, TableForm form) {
  constexpr auto kRight = Table::Side::right;
  Table table({{"plan"},
               {"median ms", kRight},
               {"p10 ms", kRight},
               {"p90 ms", kRight},
               {"samples/s", kRight},
               {"with copies", kRight},
               {"x dense", kRight}});
  std::string missing;
  const double dense = comparison.dense.network_ms.median;
  const auto add = [&](const char* name, const PlanTiming& plan) {
    if (!plan.error.empty()) {
      missing += std::string(name) + ": not available: " + one_line(plan.error) + "\n";
      return;
    }
    const Statistics& ms = plan.network_ms;
    table.add({name, fixed(ms.median, 4), fixed(ms.p10, 4), fixed(ms.p90, 4),
               fixed(1e3 * static_cast<double>(comparison.batch) / ms.median, 0),
               fixed(plan.copied_per_second, 0), dense > 0 ? fixed(dense / ms.median, 2) : "-"});
  };
  add("dense", comparison.dense);
  add("sparse", comparison.sparse);
  add("chosen", comparison.chosen);
  if (comparison.against) add("against", *comparison.against);
  return table.text(form) + (missing.empty() || form == TableForm::aligned ? "" : "\n") + missing;
}

// How many times as fast as the other model the chosen plan is.
double times_as_fast(const Comparison& comparison) {
  return comparison.against->network_ms.median / comparison.chosen.network_ms.median;
}

std::string against_text(const Comparison& comparison) {
  if (!comparison.against) return "";
  return "chosen is " + fixed(times_as_fast(comparison), 2) + " times as fast as " +
         one_line(comparison.against_name) + "\n";
}

// "as a whole: dense 0.3100 ms, fastest by layer 0.2500 ms (chosen)"; nothing where no networks
// were compared.
std::string networks_text(const std::vector<NetworkTiming>& networks) {
  std::string text;
  for (const NetworkTiming& network : networks) {
    text += (text.empty() ? "as a whole: " : ", ") + network.name + " " + fixed(network.ms, 4) +
            " ms" + (network.is_chosen ? " (chosen)" : "");
  }
  return text.empty() ? "" : text + "\n";
}

}  // namespace

std::string comparison_json(const Comparison& comparison, const CompareOptions& options) {
  const bool is_half = options.session.precision == Precision::f16;
  const Json head = {{"command", "bench"},
                     {"version", version_text()},
                     {"device", comparison.device},
                     {"batch", comparison.batch},
                     {"precision", is_half ? "f16" : "f32"},
                     {"tf32", options.session.use_tf32},
                     {"all_plans", options.session.all_plans},
                     {"warm_up", options.warm_up},
                     {"repeats", options.repeats},
                     {"rounds", options.rounds},
                     {"streams", options.streams}};
  std::string text = head.dump();
  text.pop_back();  // the object goes on
  const auto append = [&](const char* name, const PlanTiming& plan) {
    text += std::string(",\n \"") + name + "\":";
    text += plan_timing_json(plan, comparison.batch, options.all_candidates);
  };
  append("dense", comparison.dense);
  append("sparse", comparison.sparse);
  append("chosen", comparison.chosen);
  if (comparison.against) {
    append("against", *comparison.against);
    const Json tail = {{"against_model", comparison.against_name},
                       {"times_as_fast", std::round(1e4 * times_as_fast(comparison)) / 1e4}};
    text += ",\n " + tail.dump().substr(1);
    text.pop_back();
  }
  return text + "}";
}

std::string comparison_table(const Comparison& comparison, TableForm form, bool has_titles) {
  if (form == TableForm::csv) return csv_of(comparison, has_titles);
  const std::string gap = form == TableForm::markdown ? "\n" : "";  // tables stand alone
  const std::string networks = networks_text(comparison.chosen.networks);
  return "device " + comparison.device + ", batch " + std::to_string(comparison.batch) + "\n" +
         gap + layer_table(comparison).text(form) + "\n" + total_table(comparison, form) +
         (networks.empty() ? "" : gap + networks) +
         (comparison.against ? gap + against_text(comparison) : "");
}

}  // namespace winnow
