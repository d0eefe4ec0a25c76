// How long a network of whole layers takes by the channels that these keep.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "prune/evolution/budget/time_model.h"
#include "prune/evolution/trainee/trainee.h"

namespace winnow {

// A layer's milliseconds between the measured numbers of channels rise evenly with its outputs and
// with its inputs (bilinear interpolation); below the least of them they stay.
//
// What a layer keeps follows from the units (PrunableLayer with `parts`) whose channels it computes
// or reads. Layers of which no unit has a channel take the time of the dense layer.
class ChannelTime {
 public:
  // Throws Error{usage} unless the times are those of the units' layers: of all that have a weight,
  // with as many channels and weights.
  ChannelTime(const TimeModel& time, const std::vector<PrunableLayer>& units);

  // Of all layers, times the model's scale.
  double at(std::span<const std::int64_t> kept_weights) const;

  // The same of layers' times without their flat parts: of the grid's columns and then of its rows
  // the largest convex functions that lie nowhere above them. Never more than at().
  double convex_at(std::span<const std::int64_t> kept_weights) const;

  // at(), of the layers that compute or read channels of this unit alone.
  double of_unit(std::size_t unit, std::span<const std::int64_t> kept_weights) const;

  // Whether both are part of one layer.
  bool share_layers(std::size_t a, std::size_t b) const;

  // at(), of the layers that no unit is part of for which `is_fixed` is not set, [units].
  double of_fixed(const std::vector<bool>& is_fixed,
                  std::span<const std::int64_t> kept_weights) const;

 private:
  // Units and how many channels of the layer each of their blocks is.
  using Counts = std::vector<std::pair<std::size_t, std::int64_t>>;
  struct Layer {
    LayerChannelTimes times, convex;
    Counts outputs = {}, inputs = {};
  };

  void join(const TimeModel& time, std::size_t unit, const ChannelPart& part);
  double kept(std::int64_t all, const Counts& counts,
              std::span<const std::int64_t> kept_weights) const;
  double ms(const Layer& layer, const LayerChannelTimes& times,
            std::span<const std::int64_t> kept_weights) const;

  double scale_ = 1.0;
  std::vector<Layer> layers_;
  std::vector<std::vector<std::size_t>> layers_of_;            // [units]
  std::vector<std::pair<std::int64_t, std::int64_t>> blocks_;  // [units] blocks, weights of each
};

}  // namespace winnow
