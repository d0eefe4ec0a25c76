#include "runtime/plan/plan_json.h"

#include <cmath>

#include "runtime/base/joined_kernel.h"
#include "runtime/base/version.h"

namespace winnow {

using Json = nlohmann::ordered_json;

double rounded_ms(double ms) {
  return std::round(ms * 1e6) / 1e6;
}

namespace {

// The first of a family's candidates that were not rejected, with a time of its own if one has it.
const CandidateTiming* fastest_of(const LayerPlan& layer, const std::string& family) {
  const CandidateTiming* fastest = nullptr;
  for (const CandidateTiming& one : layer.candidates) {
    if (one.family != family || !one.rejected.empty()) continue;
    if (!is_timed_later(one.kernel, one.ms)) return &one;
    if (fastest == nullptr) fastest = &one;
  }
  return fastest;
}

bool is_listed(const LayerPlan& layer, const CandidateTiming& candidate) {
  if (!candidate.rejected.empty()) return true;
  const bool is_joined = is_timed_later(candidate.kernel, candidate.ms);
  if (is_joined && candidate.kernel == layer.kernel) return true;
  return fastest_of(layer, candidate.family) == &candidate;
}

}  // namespace

Json layer_plan_json(const LayerPlan& layer) {
  return {{"name", layer.name},
          {"op", layer.op},
          {"family", layer.family},
          {"kernel", layer.kernel},
          {"output_shape", layer.output_shape},
          {"dense_macs", layer.macs},
          {"weight_sparsity", layer.weight_sparsity}};
}

void append_candidates(const LayerPlan& layer, bool has_all, Json& json) {
  if (layer.candidates.empty()) return;
  Json list = Json::array();
  for (const CandidateTiming& candidate : layer.candidates) {
    if (!has_all && !is_listed(layer, candidate)) continue;
    list.push_back({{"family", candidate.family}, {"kernel", candidate.kernel}});
    if (candidate.rejected.empty()) {
      list.back()["ms"] = rounded_ms(candidate.ms);
    } else {
      list.back()["rejected"] = candidate.rejected;
    }
  }
  json["kernels_timed"] = layer.candidates.size();
  json["candidates"] = std::move(list);
}

Json networks_json(const std::vector<NetworkTiming>& networks) {
  Json list = Json::array();
  for (const NetworkTiming& network : networks) {
    list.push_back(
        {{"name", network.name}, {"ms", rounded_ms(network.ms)}, {"chosen", network.is_chosen}});
  }
  return list;
}

Json counts_json(const TimingCounts& counts) {
  return {{"measured", counts.measured}, {"cached", counts.cached}};
}

std::string plan_json(const Session& session, const SessionOptions& options) {
  Json plan = {{"version", version_text()},
               {"device", session.device()},
               {"batch", options.batch},
               {"precision", options.precision == Precision::f16 ? "f16" : "f32"},
               {"timings", counts_json(session.timing_counts())}};
  const auto networks = session.network_timings();
  if (!networks.empty()) plan["networks"] = networks_json(networks);
  plan["layers"] = Json::array();
  for (const LayerPlan& layer : session.layers()) {
    Json json = layer_plan_json(layer);
    append_candidates(layer, false, json);
    plan["layers"].push_back(std::move(json));
  }
  return plan.dump();
}

}  // namespace winnow
