#include "prune/evolution/population/clusters.h"

#include <cmath>
#include <limits>

namespace winnow {
namespace {

constexpr int kMaxRounds = 100;  // k-medoids ends far earlier; this bounds a cycle of ties

double distance(std::span<const double> a, std::span<const double> b) {
  double squares = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) squares += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(squares);
}

using Points = std::span<const std::vector<double>>;

struct Nearest {
  std::size_t medoid = 0;  // its place in the list of medoids
  double distance = std::numeric_limits<double>::infinity();
};

Nearest nearest(Points points, std::size_t point, std::span<const std::size_t> medoids) {
  Nearest found;
  for (std::size_t m = 0; m < medoids.size(); ++m) {
    const double d = distance(points[point], points[medoids[m]]);
    if (d < found.distance) found = {m, d};
  }
  return found;
}

std::vector<std::size_t> farthest_first(Points points, std::size_t count, std::size_t first) {
  std::vector<std::size_t> medoids = {first};
  while (medoids.size() < count) {
    std::size_t farthest = 0;
    double most = 0.0;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const double d = nearest(points, i, medoids).distance;
      if (d > most) {
        farthest = i;
        most = d;
      }
    }
    if (most == 0.0) break;  // every point equals a medoid
    medoids.push_back(farthest);
  }
  return medoids;
}

std::vector<std::size_t> assign(Points points, std::span<const std::size_t> medoids) {
  std::vector<std::size_t> clusters;
  for (std::size_t i = 0; i < points.size(); ++i) {
    clusters.push_back(nearest(points, i, medoids).medoid);
  }
  return clusters;
}

// The member of cluster `c` that is closest to all of its members.
std::size_t middle_of(Points points, std::span<const std::size_t> clusters, std::size_t c) {
  std::size_t middle = 0;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (clusters[i] != c) continue;
    double sum = 0.0;
    for (std::size_t j = 0; j < points.size(); ++j) {
      if (clusters[j] == c) sum += distance(points[i], points[j]);
    }
    if (sum < least) {
      middle = i;
      least = sum;
    }
  }
  return middle;
}

}  // namespace

std::vector<std::size_t> cluster(Points points, std::size_t count, std::size_t first) {
  if (points.empty()) return {};
  std::vector<std::size_t> medoids = farthest_first(points, count, first);
  std::vector<std::size_t> clusters = assign(points, medoids);
  for (int round = 0; round < kMaxRounds; ++round) {
    for (std::size_t c = 0; c < medoids.size(); ++c) medoids[c] = middle_of(points, clusters, c);
    std::vector<std::size_t> next = assign(points, medoids);
    if (next == clusters) break;
    clusters = std::move(next);
  }
  return clusters;
}

std::vector<std::size_t> representatives(std::span<const std::size_t> clusters,
                                         std::span<const std::size_t> order,
                                         std::size_t per_cluster) {
  std::vector<std::size_t> taken(clusters.size(), 0);  // per cluster
  std::vector<std::size_t> kept;
  for (const std::size_t index : order) {
    if (taken[clusters[index]]++ < per_cluster) kept.push_back(index);
  }
  return kept;
}

double spread(Points points) {
  if (points.empty()) return 0.0;
  std::vector<double> centre(points[0].size(), 0.0);
  for (const std::vector<double>& point : points) {
    for (std::size_t i = 0; i < centre.size(); ++i) centre[i] += point[i];
  }
  for (double& value : centre) value /= static_cast<double>(points.size());
  double sum = 0.0;
  for (const std::vector<double>& point : points) sum += distance(point, centre);
  return sum / static_cast<double>(points.size());
}

}  // namespace winnow
