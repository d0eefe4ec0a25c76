#include "prune/evolution/budget/cost_curve.h"

#include <algorithm>

#include "prune/evolution/budget/convex_hull.h"

namespace winnow {
namespace {

double value_at(const std::vector<std::pair<double, double>>& points, double x) {
  const auto above =
      std::upper_bound(points.begin() + 1, points.end() - 1, x,
                       [](double wanted, const auto& p) { return wanted < p.first; });
  const auto [x0, y0] = *(above - 1);
  const auto [x1, y1] = *above;
  return y0 + (x - x0) * ((y1 - y0) / (x1 - x0));
}

}  // namespace

CostCurve::CostCurve(Points points) : points_(std::move(points)), convex_(lower_hull(points_)) {}

CostCurve CostCurve::proportional(double per_weight, std::int64_t weights) {
  const auto all = static_cast<double>(weights);
  return CostCurve({{0.0, 0.0}, {all, per_weight * all}});
}

CostCurve CostCurve::time(const LayerTimeCurve& layer, double scale) {
  const auto all = static_cast<double>(layer.weights);
  const double dense =
      layer.dense_among_sparse_ms > 0.0 ? layer.dense_among_sparse_ms : layer.dense_ms;
  Points points = {{0.0, scale * (layer.points.empty() ? dense : layer.points.front().second)}};
  for (const auto& [density, ms] : layer.points) points.emplace_back(density * all, scale * ms);
  points.emplace_back(all, scale * dense);
  return CostCurve(std::move(points));
}

double CostCurve::at(double kept) const {
  return value_at(points_, kept);
}

double CostCurve::convex_at(double kept) const {
  return value_at(convex_, kept);
}

double CostCurve::most_for(double kept) const {
  const double cost = at(kept);
  double most = kept;
  for (const auto& [weights, ms] : points_) {
    if (weights > most && ms <= cost) most = weights;
  }
  return most;
}

}  // namespace winnow
