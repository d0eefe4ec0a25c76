// How long a network takes by what its layers take one by one.
#pragma once

namespace winnow {

// A network, measured as a whole, and the sum of its layers' times by a table.
struct NetworkPoint {
  double network_ms = 0;
  double layers_ms = 0;
};

// A pass takes constant_ms + scale * (sum of its layers' ms): pools, sums and launches take their
// time, and layers in a row are faster than one by one, or slower.
struct NetworkFit {
  double constant_ms = 0;  // of fit_network() 0 or more
  double scale = 1;        // more than 0
};

// The line through two networks whose layers' times differ.
NetworkFit line_between(const NetworkPoint& a, const NetworkPoint& b);

// The line through the dense network and a pruned one. Where it would begin below 0, the one from 0
// through the pruned network, since that is like what is to be predicted. Where the pruned one is
// hardly faster by the table or by measurement, the dense one alone: its rest is the constant, or
// if its layers take longer one by one, all are as much faster.
NetworkFit fit_network(const NetworkPoint& dense, const NetworkPoint& pruned);

}  // namespace winnow
