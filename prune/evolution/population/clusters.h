// Clusters of sparsity vectors, for a population that stagnates (lines 17 and 18).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace winnow {

// k-medoids by Euclidean distance, without chance: the first medoid is point `first`, each further
// one the point farthest from the medoids so far; then points go to their nearest medoid and each
// cluster takes the member with the least sum of distances as its medoid, until nothing changes. Of
// equals the lower index wins.
//
//   points   each of the same length
//   returns  for each point its cluster, 0 up to count - 1 or less if fewer points differ
std::vector<std::size_t> cluster(std::span<const std::vector<double>> points, std::size_t count,
                                 std::size_t first);

// The first `per_cluster` members of each cluster by `order` (indices of all points, best first),
// in that order.
std::vector<std::size_t> representatives(std::span<const std::size_t> clusters,
                                         std::span<const std::size_t> order,
                                         std::size_t per_cluster);

// Mean distance of the points from their centre; 0 for none.
double spread(std::span<const std::vector<double>> points);

}  // namespace winnow
