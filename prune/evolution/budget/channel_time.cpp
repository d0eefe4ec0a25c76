#include "prune/evolution/budget/channel_time.h"

#include <algorithm>
#include <string>

#include "prune/evolution/budget/convex_hull.h"
#include "runtime/base/error.h"
#include "runtime/base/suggest.h"

namespace winnow {
namespace {

// The interval of `axis` that x lies in, or is nearest to, and how far along it x is, 0 to 1.
std::pair<std::size_t, double> place_on(const std::vector<std::int64_t>& axis, double x) {
  if (axis.size() == 1) return {0, 0.0};
  const auto above = std::upper_bound(
      axis.begin() + 1, axis.end() - 1, x,
      [](double wanted, std::int64_t size) { return wanted < static_cast<double>(size); });
  const auto low = static_cast<double>(*(above - 1)), high = static_cast<double>(*above);
  return {static_cast<std::size_t>(above - axis.begin()) - 1,
          std::clamp((x - low) / (high - low), 0.0, 1.0)};
}

double interpolated(const LayerChannelTimes& times, double outputs, double inputs) {
  const auto [row, down] = place_on(times.outputs, outputs);
  const auto [column, along] = place_on(times.inputs, inputs);
  const std::size_t width = times.inputs.size();
  const std::size_t next_row = std::min(row + 1, times.outputs.size() - 1);
  const std::size_t next_column = std::min(column + 1, width - 1);
  const auto on_row = [&](std::size_t r) {
    const double left = times.ms[r * width + column], right = times.ms[r * width + next_column];
    return left + along * (right - left);
  };
  const double upper = on_row(row), lower = on_row(next_row);
  return upper + down * (lower - upper);
}

// Replaces the values at `axis`, in `ms` from `first` in steps of `stride`, by those of the hull.
void make_convex(const std::vector<std::int64_t>& axis, std::size_t first, std::size_t stride,
                 std::vector<double>& ms) {
  std::vector<PlanePoint> points;
  for (std::size_t i = 0; i < axis.size(); ++i) {
    points.emplace_back(static_cast<double>(axis[i]), ms[first + i * stride]);
  }
  const std::vector<PlanePoint> hull = lower_hull(points);
  std::size_t next = 0;  // of the hull's points, the first that lies at i or behind
  for (std::size_t i = 0; i < points.size(); ++i) {
    while (hull[next].first < points[i].first) ++next;
    const PlanePoint& to = hull[next];
    const PlanePoint& from = hull[next > 0 ? next - 1 : 0];
    const double length = to.first - from.first;
    const double share = length > 0.0 ? (points[i].first - from.first) / length : 1.0;
    ms[first + i * stride] = from.second + share * (to.second - from.second);
  }
}

LayerChannelTimes without_flat_parts(LayerChannelTimes times) {
  const std::size_t width = times.inputs.size();
  for (std::size_t c = 0; c < width; ++c) make_convex(times.outputs, c, width, times.ms);
  for (std::size_t r = 0; r < times.outputs.size(); ++r) {
    make_convex(times.inputs, r * width, 1, times.ms);
  }
  return times;
}

void require_same_layer(const LayerChannelTimes& times, const ChannelPart& part) {
  const auto require = [&](const char* what, std::int64_t there, std::int64_t here) {
    if (there == here) return;
    fail(ErrorCode::usage, "time_table: layer ", in_quotes(part.layer), " has ", there, " ", what,
         " there, ", here, " in the network");
  };
  require("output channels", times.outputs.back(), part.all_outputs);
  if (part.weights == 0) return;  // a batch norm, which became a layer when it was deployed
  require("input channels", times.inputs.back(), part.all_inputs);
  require("weights", times.weights, part.weights);
}

}  // namespace

ChannelTime::ChannelTime(const TimeModel& time, const std::vector<PrunableLayer>& units)
    : scale_(time.scale), layers_of_(units.size()) {
  for (const LayerChannelTimes& layer : time.channels) {
    layers_.push_back({.times = layer, .convex = without_flat_parts(layer)});
  }
  for (std::size_t u = 0; u < units.size(); ++u) {
    blocks_.emplace_back(units[u].blocks, units[u].weights_per_block);
    for (const ChannelPart& part : units[u].parts) join(time, u, part);
  }
}

void ChannelTime::join(const TimeModel& time, std::size_t unit, const ChannelPart& part) {
  const auto found = std::ranges::find(time.channels, part.layer, &LayerChannelTimes::name);
  if (found == time.channels.end()) {
    if (part.weights == 0) return;  // a batch norm, which is part of another layer
    std::vector<std::string> known;
    for (const LayerChannelTimes& layer : time.channels) known.push_back(layer.name);
    fail(ErrorCode::usage, "time_table: no layer ", in_quotes(part.layer), " of the network",
         suggestion(part.layer, known));
  }
  require_same_layer(*found, part);
  const auto index = static_cast<std::size_t>(found - time.channels.begin());
  if (part.outputs > 0) layers_[index].outputs.emplace_back(unit, part.outputs);
  if (part.inputs > 0) layers_[index].inputs.emplace_back(unit, part.inputs);
  layers_of_[unit].push_back(index);
}

double ChannelTime::kept(std::int64_t all, const Counts& counts,
                         std::span<const std::int64_t> kept_weights) const {
  std::int64_t left = all;
  for (const auto& [unit, channels] : counts) {
    const auto& [blocks, weights] = blocks_[unit];
    left -= channels * (blocks - kept_weights[unit] / weights);
  }
  return static_cast<double>(left);
}

double ChannelTime::ms(const Layer& layer, const LayerChannelTimes& times,
                       std::span<const std::int64_t> kept_weights) const {
  return scale_ * interpolated(times, kept(times.outputs.back(), layer.outputs, kept_weights),
                               kept(times.inputs.back(), layer.inputs, kept_weights));
}

double ChannelTime::at(std::span<const std::int64_t> kept_weights) const {
  double sum = 0.0;
  for (const Layer& layer : layers_) sum += ms(layer, layer.times, kept_weights);
  return sum;
}

double ChannelTime::convex_at(std::span<const std::int64_t> kept_weights) const {
  double sum = 0.0;
  for (const Layer& layer : layers_) sum += ms(layer, layer.convex, kept_weights);
  return sum;
}

double ChannelTime::of_unit(std::size_t unit, std::span<const std::int64_t> kept_weights) const {
  double sum = 0.0;
  for (const std::size_t i : layers_of_[unit])
    sum += ms(layers_[i], layers_[i].times, kept_weights);
  return sum;
}

bool ChannelTime::share_layers(std::size_t a, std::size_t b) const {
  const std::vector<std::size_t>& of_b = layers_of_[b];
  return std::ranges::any_of(layers_of_[a], [&](std::size_t layer) {
    return std::ranges::find(of_b, layer) != of_b.end();
  });
}

double ChannelTime::of_fixed(const std::vector<bool>& is_fixed,
                             std::span<const std::int64_t> kept_weights) const {
  std::vector<bool> is_touched(layers_.size(), false);
  for (std::size_t u = 0; u < layers_of_.size(); ++u) {
    for (const std::size_t i : layers_of_[u]) is_touched[i] = is_touched[i] || !is_fixed[u];
  }
  double sum = 0.0;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    if (!is_touched[i]) sum += ms(layers_[i], layers_[i].times, kept_weights);
  }
  return sum;
}

}  // namespace winnow
