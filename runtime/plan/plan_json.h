// What a session runs, as JSON: the fields that `runtime bench` and the C ABI share.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "runtime/plan/session.h"

namespace winnow {

double rounded_ms(double ms);  // to whole nanoseconds, far below what any clock here resolves

// "name", "op", "family", "kernel", "output_shape", "dense_macs", "weight_sparsity".
nlohmann::ordered_json layer_plan_json(const LayerPlan& layer);

// Adds "kernels_timed" and "candidates" where kernels were timed: all of them, or the fastest of
// each family and those that were rejected. Candidates are sorted by time. One that has no time of
// its own (joined_kernel.h) is the fastest only of a family that has no other; it is added where it
// was chosen.
void append_candidates(const LayerPlan& layer, bool has_all, nlohmann::ordered_json& json);

// [{"name", "ms", "chosen"}, ...]
nlohmann::ordered_json networks_json(const std::vector<NetworkTiming>& networks);

// {"measured": 12, "cached": 0}
nlohmann::ordered_json counts_json(const TimingCounts& counts);

// The whole session, on one line: "version" (of the program), "device", "batch", "precision"
// ("f16", "f32"), "timings", "networks" where some were compared, and "layers".
std::string plan_json(const Session& session, const SessionOptions& options);

}  // namespace winnow
