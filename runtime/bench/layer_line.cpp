#include "runtime/bench/layer_line.h"

namespace winnow {

nlohmann::ordered_json measured_line(nlohmann::ordered_json line, const LayerBenchRow& row,
                                     std::size_t kernels) {
  line["family"] = row.family;
  line["kernel"] = row.kernel;
  line["kernels"] = kernels;
  line["launches"] = row.launches;
  if (row.clocks > 0) line["predicted_clocks"] = row.clocks;
  line["ms"] = row.median_ms;
  line["spread"] = row.spread;
  if (row.clock_mhz > 0) line["sm_mhz"] = row.clock_mhz;
  line["error"] = row.error;
  return line;
}

}  // namespace winnow
