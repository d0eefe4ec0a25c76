// Dense against sparse: one model, one device, one process; and another model beside it.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "runtime/bench/statistics.h"
#include "runtime/cli/table.h"
#include "runtime/engine.h"

namespace winnow {

struct CompareOptions {
  Device device;
  SessionOptions session;  // batch, precision, threads; `choice` is set by the comparison
  int warm_up = 10;
  int repeats = 100;  // timed runs of the network, spread over `rounds`
  int rounds = 4;     // the three plans take turns, so that drifting clocks hit all alike
  int layer_repeats = 20;
  int streams = 1;  // sessions that share the plan and run at the same time where copies are timed;
                    // more than one need a GPU
  bool all_candidates = false;  // in the JSON: every kernel that was timed, not the fastest of each
                                // family
  // Another model with the same input, timed in the same turns: what a smaller network stands for.
  // Of all families, whatever `session` says. Null: none.
  const DeployedModel* against = nullptr;
  std::string against_name;  // its file

  // Called while the plans are timed: `done` of `all` rounds, of which the last are those of the
  // layers. May be empty. `session.progress` tells about the making of each plan.
  std::function<void(std::size_t done, std::size_t all)> progress = nullptr;
};

// One way to run the model: all layers dense, sparse wherever a sparse family fits, or the fastest
// for each layer (Algorithm 2 of paper 003).
struct PlanTiming {
  std::vector<LayerPlan> layers;
  std::vector<Statistics> layer_ms;  // one per step
  Statistics network_ms;
  double copied_per_second = 0;         // samples, from and to host memory (Session::run_all)
  std::vector<NetworkTiming> networks;  // that the session was chosen from as a whole
  TimingCounts timings;                 // what its planning took
  std::string error;                    // why this plan does not exist; then all else is empty
};

struct Comparison {
  std::string device;
  std::int64_t batch = 1;
  PlanTiming dense;
  PlanTiming sparse;
  PlanTiming chosen;
  std::optional<PlanTiming> against;  // the other model, each layer by the fastest kernel
  std::string against_name;
};

// Runs on normal random input (fixed seed). Throws Error{device} if the device fails, Error{usage}
// for several streams on a CPU and for another model whose input has another shape; a plan that
// the device cannot make (no cuDNN) is reported in its `error`.
Comparison compare_plans(const DeployedModel& model, const CompareOptions& options);

// One JSON object: times as percentiles (min, p10, median, p90, max, count), a line a layer.
std::string comparison_json(const Comparison& comparison, const CompareOptions& options);

// Layers and totals. As csv one table of layers, in which "network" is all of them, with the titles
// if `has_titles`; else two tables below a line that names device and batch.
std::string comparison_table(const Comparison& comparison, TableForm form = TableForm::aligned,
                             bool has_titles = true);

}  // namespace winnow
