#include "runtime/plan/timing.h"

#include <algorithm>
#include <utility>

#include "runtime/base/median.h"

namespace winnow {
namespace {

constexpr int kTimingRevision = 3;

}  // namespace

Timing timing_of(const std::vector<double>& ms) {
  Timing timing;
  timing.median_ms = median(ms);
  timing.min_ms = *std::ranges::min_element(ms);
  timing.runs = static_cast<int>(ms.size());
  return timing;
}

Timing rejected_for(std::string reason) {
  Timing timing;
  timing.rejected = std::move(reason);
  return timing;
}

std::string timing_version() {
  return std::string("winnow ") + WINNOW_VERSION + " timings " + std::to_string(kTimingRevision);
}

}  // namespace winnow
