#include "runtime/plan/plan_json.h"

#include <cmath>
#include <set>

#include "runtime/base/version.h"

namespace winnow {

using Json = nlohmann::ordered_json;

double rounded_ms(double ms) {
  return std::round(ms * 1e6) / 1e6;
}

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
  std::set<std::string> families;
  for (const CandidateTiming& candidate : layer.candidates) {
    const bool is_first = candidate.rejected.empty() && families.insert(candidate.family).second;
    if (!is_first && !has_all && candidate.rejected.empty()) continue;
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
