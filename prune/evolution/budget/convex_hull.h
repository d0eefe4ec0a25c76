// The lower side of a convex hull.
#pragma once

#include <utility>
#include <vector>

namespace winnow {

using PlanePoint = std::pair<double, double>;

// Whether `middle` lies on or above the line from `left` to `right`; x rises from one to the next.
inline bool is_above_line(const PlanePoint& left, const PlanePoint& middle,
                          const PlanePoint& right) {
  return (middle.second - left.second) * (right.first - left.first) >=
         (right.second - left.second) * (middle.first - left.first);
}

// Those of `points` (x rising) that the largest convex function below all of them passes through,
// the first and the last among them. Andrew's monotone chain.
inline std::vector<PlanePoint> lower_hull(const std::vector<PlanePoint>& points) {
  std::vector<PlanePoint> hull;
  for (const PlanePoint& point : points) {
    while (hull.size() > 1 && is_above_line(hull[hull.size() - 2], hull.back(), point)) {
      hull.pop_back();
    }
    hull.push_back(point);
  }
  return hull;
}

}  // namespace winnow
