// What a layer costs by the weights that it keeps.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "prune/evolution/budget/time_model.h"

namespace winnow {

// A function that never falls, piecewise linear: in proportion for weights and
// multiply-accumulates; flat for times where nothing is faster than a denser mask or the dense
// layer.
class CostCurve {
 public:
  // `per_weight` for each of `weights`.
  static CostCurve proportional(double per_weight, std::int64_t weights);

  // Milliseconds times `scale`. Between measured densities and up to the dense layer, among sparse
  // ones if that is known, time rises evenly; below the least of them it is that one's.
  static CostCurve time(const LayerTimeCurve& layer, double scale);

  double at(double kept) const;

  // The largest convex function that lies nowhere above at(): the curve without its flat parts. A
  // way from dense to sparse along it gains at every step.
  double convex_at(double kept) const;

  // The most weights that cost no more than at(kept).
  double most_for(double kept) const;

 private:
  using Points = std::vector<std::pair<double, double>>;

  explicit CostCurve(Points points);

  Points points_;  // weights, rising, from 0; cost
  Points convex_;
};

}  // namespace winnow
