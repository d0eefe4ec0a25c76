// What a session computes, layer by layer, against the reference loops.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "runtime/model/model.h"
#include "runtime/plan/session.h"

namespace winnow {

struct LayerError {
  LayerPlan plan;
  double relative = 0;  // norm of the difference over norm of the reference
  double largest = 0;   // largest absolute difference
  bool is_finite = true;

  // How many layers were computed since the last value that could be compared, this one included;
  // 0: its value is nowhere, and a later layer that is computed with it is compared.
  int layers = 1;

  bool is_compared() const { return layers > 0; }

  // Whether the difference is within `tolerance`, that of one layer, times the root of `layers`:
  // roundings of several layers add up like independent ones.
  bool is_within(double tolerance) const;
};

// Runs `input` (Session::run) through the session, then each layer through the reference loops, on
// the session's own values where it has them, so that one layer's rounding is not charged to the
// next. `progress` is called with the number of layers done.
std::vector<LayerError> layer_errors(const DeployedModel& model, Session& session,
                                     std::int64_t batch, std::span<const float> input,
                                     const std::function<void(std::size_t)>& progress);

}  // namespace winnow
