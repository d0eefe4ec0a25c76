#include "prune/evolution/budget/time_model.h"

#include <algorithm>
#include <set>

#include "prune/evolution/budget/layer_range.h"
#include "prune/evolution/trainee/trainee.h"
#include "runtime/base/error.h"
#include "runtime/base/suggest.h"

namespace winnow {
namespace {

void require_same_weights(const LayerTimeCurve& time, const PrunableLayer& layer) {
  if (time.weights == layer.weights) return;
  fail(ErrorCode::usage, "time_table: layer ", in_quotes(layer.name), " has ", time.weights,
       " weights there, ", layer.weights, " in the network");
}

}  // namespace

const LayerTimeCurve* time_of(const TimeModel& time, const std::string& name) {
  const auto found = std::ranges::find(time.layers, name, &LayerTimeCurve::name);
  return found == time.layers.end() ? nullptr : &*found;
}

TimeModel without_removed(TimeModel time, const std::vector<PrunableLayer>& layers) {
  if (!time.has_removed_layers) return time;
  std::set<std::string> in_network;
  for (const PrunableLayer& layer : layers) {
    in_network.insert(layer.name);
    for (const ChannelPart& part : layer.parts) in_network.insert(part.layer);
  }
  std::erase_if(time.layers, [&](const LayerTimeCurve& layer) {
    return !layer.is_scale && !in_network.contains(layer.name);
  });
  std::erase_if(time.channels,
                [&](const LayerChannelTimes& layer) { return !in_network.contains(layer.name); });
  return time;
}

double dense_layers_ms(const TimeModel& time) {
  double sum = 0.0;
  for (const LayerTimeCurve& layer : time.layers) sum += layer.dense_ms;
  for (const LayerChannelTimes& layer : time.channels) sum += layer.ms.back();
  return sum;
}

void require_fit(const TimeModel& time, const std::vector<PrunableLayer>& layers,
                 const std::vector<LayerRange>& ranges) {
  std::vector<std::string> in_table, in_network;
  for (const LayerTimeCurve& layer : time.layers) in_table.push_back(layer.name);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    in_network.push_back(layers[i].name);
    if (const LayerTimeCurve* const found = time_of(time, layers[i].name)) {
      require_same_weights(*found, layers[i]);
    } else if (!ranges[i].excluded) {
      fail(ErrorCode::usage, "time_table: no layer ", in_quotes(layers[i].name), " of the network",
           suggestion(layers[i].name, in_table));
    }
  }
  for (const LayerTimeCurve& layer : time.layers) {
    if (layer.is_scale || std::ranges::find(in_network, layer.name) != in_network.end()) continue;
    fail(ErrorCode::usage, "time_table: the network has no layer ", in_quotes(layer.name),
         suggestion(layer.name, in_network));
  }
}

}  // namespace winnow
